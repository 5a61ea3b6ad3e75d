/*
 * Regular expressions of plans: POSIX extended ones, and some common forms that POSIX lacks:
 *
 *	\d \D \w \W \s \S   classes, also in brackets
 *	(?: … )             a group
 *	(?i)                at the beginning: case is ignored
 *	\t                  a tab
 *
 * There are no back-references, so matching takes time proportional to the line's length and the expression's.
 *
 *	struct plan_regex x;
 *	plan_regex_compile(&x, "fn main\\(", e)
 *	plan_regex_matches(&x, line)
 *	plan_regex_release(&x)
 */
#ifndef PLAN_REGEX_H
#define PLAN_REGEX_H

#include <regex.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define PLAN_REGEX_MAX 2000 /* bytes of an expression */

struct plan_regex {
	regex_t x;
};

/* ERR_CONFIG, without a place. */
int plan_regex_compile(struct plan_regex *ret, const char *pattern, struct err *e);
/* The same expression for `grep -E`; *ret_icase: with -i. */
int plan_regex_posix(const char *pattern, struct buf *out, bool *ret_icase, struct err *e);
bool plan_regex_matches(const struct plan_regex *x, const char *line);
void plan_regex_release(struct plan_regex *x);

#endif
