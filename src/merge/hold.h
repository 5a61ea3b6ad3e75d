/*
 * Holds a ref while files are updated: git has checked its value and locked it, and moves it when told to.
 *
 *	hold_take; update the files; hold_commit or nothing; hold_drop
 *
 * If this process dies, git sees the end of its input and unlocks the ref, unchanged.
 */
#ifndef MERGE_HOLD_H
#define MERGE_HOLD_H

#include "base/err.h"

struct hold;

struct hold_spec {
	const char *git_dir; /* of the checkout, whose HEAD log gets an entry; else the repository's */
	const char *ref;
	const char *from, *to;
	const char *reason; /* for the reflogs */
};

/* ERR_BUSY if the ref has another value by now, or somebody else has locked it. */
int hold_take(const struct hold_spec *s, struct hold **ret, struct err *e);
int hold_commit(struct hold *h, struct err *e);
/* Unlocks the ref, which does not move unless it was committed. h may be NULL. */
void hold_drop(struct hold *h);
void hold_dropp(struct hold **h);
#define auto_hold __attribute__((cleanup(hold_dropp))) struct hold *

#endif
