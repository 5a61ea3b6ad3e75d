/*
 * The files that a stage of a plan gets in addition to its workspace: its brief, and what the stages that it depends on
 * have left. They are in tasks/<id>/planned. Inside they are the read-only directory .work of the workspace, which git
 * inside ignores; with Landlock only they are at their own path.
 *
 *	stage_files_open(dir, &fd, e)      before the task's first run; the caller writes files there
 *	stage_files_inside(c, t)           where the task sees them
 */
#ifndef TASK_STAGE_FILES_H
#define TASK_STAGE_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "jail/jail.h"
#include "store/store.h"
#include "task/context.h"

#define STAGE_FILES_NAME ".work"

/* Makes the directory if it is missing. The caller closes *ret_fd. */
int stage_files_open(int task_dir, int *ret_fd, struct err *e);
/* Replaces one of them. */
int stage_files_put(int fd, const char *name, const char *text, size_t len, struct err *e);
/* On the heap. */
char *stage_files_inside(const struct context *c, const struct task *t);
/* Makes git inside ignore them. Only for a task in which nothing has run yet: its git directory is not an agent's. */
int stage_files_hide(int task_dir, struct err *e);
/* Adds them to the walls of a task that has them. */
void stage_files_show(const struct context *c, const struct task *t, int task_dir, struct jail *j);

/*
 * Notes: what a stage's agent leaves for the stages after it (`garth note` inside), in tasks/<id>/notes. The text is the
 * agent's. ERR_REFUSED if the task is not a stage; ERR_USAGE if the text is empty or too long, or there are too many notes.
 */
#define STAGE_NOTE_MAX  8000
#define STAGE_NOTES_MAX (64u << 10)
int stage_notes_add(int task_dir, const char *text, struct err *e);
/* Appends them, cleaned; nothing if there are none. */
void stage_notes_load(int task_dir, struct buf *out);

/*
 * Outputs: values with names, which a stage's agent leaves for the stages after it (`garth stage output` inside), in
 * tasks/<id>/outputs. A name is like a variable's, a value is one line. A later value replaces an earlier one. Errors as for
 * notes.
 */
#define STAGE_OUTPUT_MAX  4000
#define STAGE_OUTPUTS_MAX (64u << 10)
int stage_outputs_set(int task_dir, const char *name, const char *value, struct err *e);
/* Appends lines "NAME=VALUE"; nothing if there are none. */
void stage_outputs_load(int task_dir, struct buf *out);

#endif
