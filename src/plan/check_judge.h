/* Decides whether a check's command did what the plan expects. Pure functions; the bytes are an agent's. */
#ifndef PLAN_CHECK_JUDGE_H
#define PLAN_CHECK_JUDGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "plan/plan.h"

/* What a command printed, and its exit code. */
struct check_output {
	int code;
	struct buf out, err;
	bool cut; /* it printed more than was kept: only the end is searched */
};

/* True if it passed; else *why says what is wrong, in one line. */
bool check_judge(const struct plan_check *k, const struct check_output *o, struct buf *why);
/* The same for an artifact's content: not empty, and without a mark that it is only a stub (unless it is prose). */
bool check_judge_artifact(const char *path, const char *data, size_t len, struct buf *why);
/* Whether a line of the bytes matches. Only the beginning of a long line is searched. */
struct plan_regex;
bool check_has_line(const struct plan_regex *pattern, const char *data, size_t len);
/* Whether a text is in the bytes. */
bool check_contains(const char *data, size_t len, const char *text);

#endif
