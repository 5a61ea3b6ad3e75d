/*
 * Looks for a regular expression in what an agent has written. For most expressions a text can be made on which matching
 * takes hours (each beginning that goes on for long is tried again), or much memory. So it is done in a process with limits.
 */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "base/err.h"
#include "plan/regex.h"

/* Processor time, for a text of any size. */
#define SEARCH_SECONDS 60

/* Whether a line of the bytes matches; of a long line the beginning. Blocks. ERR_FAILED if it takes more than `seconds` of
 * processor time, or too much memory. */
int search_lines(const struct plan_regex *pattern, const char *data, size_t len, unsigned seconds, bool *ret,
	struct err *e);

#endif
