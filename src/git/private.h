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
	const char *hook;        /* where the reference-transaction hook leads to inside, NULL for none */
	bool borrow;             /* alternates name the shared objects; else private_fill brings them */
};

/* Fills the empty directory `dir`; everything belongs to the inside's owner. */
int private_create(int dir, const struct private_spec *s, struct err *e);
/* Copies everything that the shown refs and the commit reach into dir (a path) as one pack. *ret is its name,
 * such as pack-….pack, on the heap. */
int private_fill(const char *dir, const struct private_spec *s, char **ret, struct err *e);
/* Whether an owner other than the repository's can read its objects (root's tasks run as another). */
bool private_can_borrow(const struct repo *r);
/* How many objects the private storage has of its own: loose ones, and packs but for the one that it was made
 * with (own_pack; NULL where it borrows). Counts names only; the content is the agent's. Storage that borrows
 * from elsewhere than it did at first counts too: what it has may lie there. */
int private_count_objects(int dir, const struct repo *r, const char *own_pack, size_t *ret, struct err *e);
/* The same without the loose objects that the shared repository has too. It is asked for their names: they
 * are hashes, so what has the name there is the object, whatever the file here holds. Packs are not looked
 * into. */
int private_count_drafts(int dir, const struct repo *r, const char *own_pack, size_t *ret, struct err *e);

/* Removes the locks that a git left which was killed in the middle, where nobody is in the task any more: of
 * HEAD, the index, config, packed-refs, and of the refs that are named (full names, NULL for none). */
void private_unlock(int dir, const char *ref, const char *other);

#endif
