/*
 * What the agent of a stage is told: its task, what it may change, what is checked, and what was done before it. All of it is
 * the user's plan, but for what other stages left, which is said to be theirs.
 */
#ifndef PLAN_STAGE_BRIEF_H
#define PLAN_STAGE_BRIEF_H

#include "base/buf.h"
#include "plan/job.h"

/* Longer briefs are handed over as a file alone. */
#define STAGE_BRIEF_MAX (64u << 10)

/* `files` is where the stage's files are inside (task/stage_files.h). */
void stage_brief(const struct stage_job *j, const char *files, struct buf *out);
/* What a check is called in briefs, logs and prompts; on the heap. */
char *check_title(const struct plan_check *k);

/* Appends somebody else's text inside a fence that nothing in it can end. The text is clean. */
void stage_add_fenced(struct buf *out, const char *text);
/* The prompt after checks that failed: what was checked, and its output as data, inside a fence that nothing in it can
 * end. */
struct check_row;
void stage_rework_prompt(const struct stage_row *s, const struct check_row *failed, struct buf *out);

#endif
