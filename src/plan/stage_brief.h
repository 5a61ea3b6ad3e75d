/*
 * What the agent of a stage is told: its work, what it may change, what is checked, and what was done before. All of it
 * comes from the user's plan, except what other stages have left, which is marked as theirs.
 */
#ifndef PLAN_STAGE_BRIEF_H
#define PLAN_STAGE_BRIEF_H

#include "base/buf.h"
#include "plan/job.h"

/* A longer brief is given to the agent only as a file. */
#define STAGE_BRIEF_MAX (64u << 10)

/* `files` is the directory inside that has the stage's files (task/stage_files.h). */
void stage_brief(const struct stage_job *j, const char *files, struct buf *out);
/* The name of a check in briefs, logs and prompts; on the heap. */
char *check_title(const struct plan_check *k);

/* Appends somebody else's text inside a fence that nothing in it can end. The text is clean. */
void stage_add_fenced(struct buf *out, const char *text);
/* The prompt after a failed check: what was checked, and its output as data, inside a fence that nothing in it can end. */
struct check_row;
void stage_rework_prompt(const struct stage_row *s, const struct check_row *failed, struct buf *out);

#endif
