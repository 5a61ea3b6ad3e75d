/*
 * The user's remote repositories, spoken to as the user would: with the user's own configuration, credentials
 * and ssh, which live outside and which no agent sees. No hook of the user's checkout runs, and nothing that
 * the repository's own configuration could lead elsewhere (trust.h).
 */
#ifndef GIT_REMOTE_H
#define GIT_REMOTE_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"

/* The remote of that name; without one, `local`, else `origin` (W3). *ret is on the heap, NULL where there is
 * neither. ERR_NOTFOUND where the named one is not there. */
int remote_choose(const struct repo *r, const char *name, char **ret, struct err *e);

/* The same where there must be one that can be spoken to: ERR_NOTFOUND, and trust_check. */
int remote_require(const struct repo *r, const char *name, char **ret, struct err *e);

enum remote_answer {
	REMOTE_TAKEN,
	REMOTE_HAS_IT,   /* the branch is there already */
	REMOTE_OVERTAKEN /* somebody else's commits are there: fetch first */
};

/* Moves the remote's branch (its short name) to the commit, forwards only. *ret tells, and *why has the
 * remote's words where it was overtaken; anything else that a remote may say is a failure with its last
 * words. */
int remote_push(const struct repo *r, const char *remote, const char *oid, const char *branch,
	enum remote_answer *ret, struct err *why, struct err *e);
/* Brings the remote's branch here, as the ref `to`, and nothing else; oid is "" where the remote has no such
 * branch. A repository on this machine may belong to somebody else. */
int remote_fetch(const struct repo *r, const char *remote, const char *branch, const char *to,
	char oid[OID_SIZE], struct err *e);

#endif
