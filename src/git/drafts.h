/*
 * Counts the objects that only a task's private repository has: work that was not published. The agent
 * controls that repository, so only names are read and no object is unpacked.
 */
#ifndef GIT_DRAFTS_H
#define GIT_DRAFTS_H

#include <stddef.h>

#include "base/err.h"
#include "git/repo.h"

/* The state of the private storage when it was created. */
struct drafts_start {
	const char *own_pack;   /* its pack; NULL if it borrows objects */
	const char *alternates; /* the first content of info/alternates, if it borrows objects */
};

/* How many objects the private storage has itself: loose ones and packs, without the pack that it was created
 * with. If info/alternates has changed, that counts as one more: objects may be in the new place. */
int drafts_count_all(
	int dir, const struct repo *r, const struct drafts_start *start, size_t *ret, struct err *e);
/* The same without the loose objects that the shared repository has too. The comparison is by name: names are
 * hashes, so the shared repository's object is the same one, whatever the file here contains. Packs are not
 * opened. */
int drafts_count(int dir, const struct repo *r, const struct drafts_start *start, size_t *ret, struct err *e);
/* Only those that HEAD, a ref or a reflog names, also the stash, and that the shared repository does not
 * have: what `git gc` would keep. If there are too many names to read, that counts as one. */
int drafts_count_named(int dir, const struct repo *r, size_t *ret, struct err *e);

#endif
