/*
 * What only a task's private repository has. It is the agent's: names are looked at, nothing in it is
 * unpacked.
 */
#ifndef GIT_DRAFTS_H
#define GIT_DRAFTS_H

#include <stddef.h>

#include "base/err.h"
#include "git/repo.h"

/* What the storage was made with. */
struct drafts_start {
	const char *own_pack;   /* its pack; NULL where it borrows */
	const char *alternates; /* what info/alternates had, where it borrows */
};

/* How many objects the private storage has of its own: loose ones, and packs but for the one that it was made
 * with. Storage that borrows from elsewhere than it did at first counts too: what it has may be there. */
int drafts_count_all(
	int dir, const struct repo *r, const struct drafts_start *start, size_t *ret, struct err *e);
/* The same without the loose objects that the shared repository has too. It is asked for their names: they
 * are hashes, so what has the name there is the object, whatever the file here holds. Packs are not looked
 * into. */
int drafts_count(int dir, const struct repo *r, const struct drafts_start *start, size_t *ret, struct err *e);
/* Only those that HEAD, a ref or a reflog names, the stash among them, and the shared repository does not
 * have: what a git gc would keep. Where there is more of these than anybody looks through, that counts as
 * one. */
int drafts_count_named(int dir, const struct repo *r, size_t *ret, struct err *e);

#endif
