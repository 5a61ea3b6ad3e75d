/*
 * What a push would bring to a remote, as last fetched.
 *
 *	auto_strvec except = STRVEC_INIT;
 *	outgoing_except(r, remote, base, &except, e);
 *	outgoing_changes(r, tip, &except, &raw, e);    for diff_next (git/checkout.h)
 */
#ifndef PUSH_OUTGOING_H
#define PUSH_OUTGOING_H

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

#define OUTGOING_MAX (256u << 20)

/* Words for `git log --not`: what the remote has. If no branch of it is known, that is `base`. */
int outgoing_except(
	const struct repo *r, const char *remote, const char *base, struct strvec *ret, struct err *e);
/* The differences of all commits that `tip` has beyond that to their parents, the newest first. */
int outgoing_changes(
	const struct repo *r, const char *tip, const struct strvec *except, struct buf *raw, struct err *e);
/* The SHA-256 of the LFS content that these commits add pointers to. git pushes no content. */
void outgoing_lfs(
	const struct repo *r, const char *remote, const char *base, const char *tip, struct strvec *ret);

#endif
