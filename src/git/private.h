/*
 * Creates a task's private repository: a complete repository of a dozen small files that borrows the shared
 * objects. It is made once, before the first command runs inside. From then on the agent controls it, and
 * nothing outside trusts it.
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
	const char *branch;      /* the task's branch, full name */
	const char *commit;      /* the branch's commit */
	const struct buf *shown; /* "OID REFNAME" lines, sorted */
	const struct buf *index; /* the bytes of the index file, NULL for none */
	const char *fsmonitor;   /* core.fsmonitor inside, NULL for none */
	const char *ignores;     /* the path of the user's ignore file inside, NULL for none */
	const char *hook;        /* the target of the reference-transaction hook inside, NULL for none */
	/* info/alternates with the paths of the shared objects inside; NULL: private_fill copies the objects
	 * */
	const struct buf *alternates;
};

/* Fills the empty directory `dir`; everything belongs to the inside's owner. */
int private_create(int dir, const struct private_spec *s, struct err *e);
/* Copies everything that the shown refs and the commit reach into dir (a path), as one pack. *ret is the
 * pack's name (pack-….pack); the caller frees it. */
int private_fill(const char *dir, const struct private_spec *s, char **ret, struct err *e);
/* Whether a user other than the repository's owner can read its objects. Root's tasks run as another user. */
bool private_can_borrow(const struct repo *r);
/* Removes lock files that a killed git left behind, when no process is in the task any more: those of HEAD,
 * the index, config, packed-refs, and the two refs (full names, NULL for none). */
void private_unlock(int dir, const char *ref, const char *other);

#endif
