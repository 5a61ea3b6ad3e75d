/*
 * Fetches from and pushes to the user's remotes, with the user's configuration, credentials and ssh. These
 * stay outside, and no agent sees them. No hook of the user's checkout runs. If the repository's own
 * configuration could run a program or redirect credentials, it is refused (trust.h).
 */
#ifndef GIT_REMOTE_H
#define GIT_REMOTE_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"

/* The remote with that name; if name is NULL, `local`, else `origin`. *ret is NULL if there is neither; the
 * caller frees it. ERR_NOTFOUND if the named one does not exist. */
int remote_choose(const struct repo *r, const char *name, char **ret, struct err *e);

/* The same if a remote is required: ERR_NOTFOUND if there is none. Also does trust_check. */
int remote_require(const struct repo *r, const char *name, char **ret, struct err *e);

enum remote_answer {
	REMOTE_TAKEN,
	REMOTE_HAS_IT,   /* the remote's branch has the commit already */
	REMOTE_OVERTAKEN /* the remote's branch has other new commits: fetch first */
};

/* Moves the remote's branch (short name) to the commit, by fast-forward only. *ret is the result. If it is
 * REMOTE_OVERTAKEN, *why has the remote's message. Every other refusal is an error with the remote's last
 * message. */
int remote_push(const struct repo *r, const char *remote, const char *oid, const char *branch,
	enum remote_answer *ret, struct err *why, struct err *e);
/* Fetches one branch of the remote into the ref `to`. oid is "" if the remote has no such branch. A remote on
 * this machine may belong to another user. */
int remote_fetch(const struct repo *r, const char *remote, const char *branch, const char *to,
	char oid[OID_SIZE], struct err *e);

#endif
