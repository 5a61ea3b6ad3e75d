/*
 * A task's private repository: complete, a dozen small files, borrowing the shared objects. Made once, before
 * the first command runs inside; from then on it is the agent's, and nothing outside reads it.
 */
#ifndef GIT_PRIVATE_H
#define GIT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

struct private_spec {
	const struct repo *repo;
	const char *branch;      /* full name of the task's branch */
	const char *commit;      /* its value */
	const struct buf *shown; /* "OID REFNAME" lines, sorted */
	const struct buf *index; /* the index file's bytes, NULL for none */
	const char *fsmonitor;   /* core.fsmonitor inside, NULL for none */
	const char *ignores;     /* where the user's ignore file is inside, NULL for none */
	const char *hook;        /* where the reference-transaction hook leads to inside, NULL for none */
	/* info/alternates, which lead to the shared objects inside; NULL: private_fill brings them */
	const struct buf *alternates;
};

/* Fills the empty directory `dir`; everything belongs to the inside's owner. */
int private_create(int dir, const struct private_spec *s, struct err *e);
/* Copies everything that the shown refs and the commit reach into dir (a path) as one pack. *ret is its name,
 * such as pack-….pack, on the heap. */
int private_fill(const char *dir, const struct private_spec *s, char **ret, struct err *e);
/* Whether an owner other than the repository's can read its objects (root's tasks run as another). */
bool private_can_borrow(const struct repo *r);
/* Removes the locks that a git left which was killed in the middle, where nobody is in the task any more: of
 * HEAD, the index, config, packed-refs, and of the refs that are named (full names, NULL for none). */
void private_unlock(int dir, const char *ref, const char *other);

#endif
