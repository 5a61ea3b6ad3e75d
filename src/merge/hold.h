/*
 * A ref held while files are brought along: git has checked its value and locked it, and moves it, or not,
 * when told. Where this process dies, git sees the end of its input and lets go of the ref as it was.
 */
#ifndef MERGE_HOLD_H
#define MERGE_HOLD_H

#include "base/err.h"

struct hold;

struct hold_spec {
	const char
		*git_dir; /* the checkout's own, whose HEAD gets a line in its log; else the repository's */
	const char *ref;
	const char *from, *to;
	const char *reason; /* for the logs */
};

/* ERR_BUSY where the ref has another value by now or somebody else holds it. */
int hold_take(const struct hold_spec *s, struct hold **ret, struct err *e);
int hold_commit(struct hold *h, struct err *e);
/* Lets go; the ref stays as it was unless it was committed. NULL is fine. */
void hold_drop(struct hold *h);
void hold_dropp(struct hold **h);
#define auto_hold __attribute__((cleanup(hold_dropp))) struct hold *

#endif
