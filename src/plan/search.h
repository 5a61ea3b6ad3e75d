/*
 * Searches text that an agent has written for a regular expression. For most expressions somebody can write a text on which
 * matching takes hours or much memory. So it is done in a process with limits.
 */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "base/err.h"
#include "plan/regex.h"

/* Processor time in seconds, for a text of any size. */
#define SEARCH_SECONDS 60

/* Whether a line of the bytes matches. Only the beginning of a long line is searched. Blocks. ERR_FAILED if it takes more
 * than `seconds` of processor time, or too much memory. */
int search_lines(const struct plan_regex *pattern, const char *data, size_t len, unsigned seconds, bool *ret,
	struct err *e);

#endif
