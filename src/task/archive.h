/*
 * Archives a task (T7): packs everything of it into $GARTH_HOME/archives/<task>.<id>.tar.gz, from which
 * `garth undo` restores it. The task first goes to the trash (remove.h), with a deed "archive". A file
 * `archive` in its directory keeps it from being removed from the trash. Its pins in the repository stay as
 * long as it can be restored.
 *
 *	in the trash, marked; "archived" in the store                             fault archive-trash
 *	packed, under a temporary name                                            fault archive-packed
 *	the file is renamed; the directory is removed
 *
 * If a crash comes in between, the task is in the trash and can be restored from there; archive_settle packs
 * it. Packing may take hours.
 */
#ifndef TASK_ARCHIVE_H
#define TASK_ARCHIVE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* *ret is the archive's path, on the heap. refs gets its refs in submodules' repositories (submodule_refs.h). */
struct submodule_refs;
int task_archive(struct context *c, struct task *t, struct submodule_refs *refs, char **ret, struct err *e);
/* Packs tasks that a crash left in the trash; adds their number to *ret. */
int archive_settle(struct context *c, size_t *ret, struct err *e);

/* For undo.h: unpacks an archived task into the trash and takes its lock. Does nothing if the task is in the
 * trash already. */
int archive_open(struct context *c, const struct task *t, int *ret_lock, struct err *e);
/* After the task was restored: removes its archive and the mark in its directory. */
void archive_forget(struct context *c, const struct task *t, int dir);

/* Whether the task has an archive. */
bool archive_is_there(const struct context *c, const struct task *t);
/* The same, by the task's id alone. */
bool archive_holds(const struct context *c, int64_t id);
/* Whether this directory of the trash is marked to be packed. */
bool archive_waits(int trash, const char *name);

#define ARCHIVE_MARK "archive"

#endif
