/*
 * Holds a ref while files are updated: git has checked its value and locked it, and moves it when told to.
 *
 *	ref_lock_take; update the files; ref_lock_commit or nothing; ref_lock_drop
 *
 * If this process dies, git sees the end of its input and unlocks the ref, unchanged.
 */
#ifndef MERGE_REF_LOCK_H
#define MERGE_REF_LOCK_H

#include <stdbool.h>

#include "base/err.h"

struct ref_lock;

struct ref_lock_spec {
	const char *git_dir; /* of the checkout, whose HEAD log gets an entry; else the repository's */
	const char *refs_in; /* the repository that has the refs, if that is another; else NULL */
	const char *ref;
	const char *from, *to;
	const char *reason; /* for the reflogs */
	bool no_deref;      /* the ref itself moves, and not a branch that it names: a detached HEAD */
};

/* ERR_BUSY if the ref has another value by now, or somebody else has locked it. */
int ref_lock_take(const struct ref_lock_spec *s, struct ref_lock **ret, struct err *e);
int ref_lock_commit(struct ref_lock *h, struct err *e);
/* Unlocks the ref, which does not move unless it was committed. h may be NULL. */
void ref_lock_drop(struct ref_lock *h);
void ref_lock_dropp(struct ref_lock **h);
#define auto_ref_lock __attribute__((cleanup(ref_lock_dropp))) struct ref_lock *

#endif
