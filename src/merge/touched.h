/*
 * Which paths a range of commits touches, as hashes: a quick answer to whether two ranges can conflict at all. Most
 * tasks change different files; only the others are worth a merge by git.
 *
 *	struct touched *t = touched_find(c, r, ranges, n, by);      t[i] is about ranges[i]
 *	if (touched_may_conflict(&t[a], &t[b])) → ask git
 *	touched_release(t, n);
 *
 * "May" is said too often rather than too rarely: for equal hashes of different paths, for a file in the place of
 * the other's directory, for a range that may have moved a directory in which the other adds files, and for a
 * range that is not known. The store caches the hashes by the two commits.
 */
#ifndef MERGE_TOUCHED_H
#define MERGE_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/deadline.h"
#include "git/repo.h"
#include "task/context.h"

struct touched_range {
	const char *from, *to; /* commits; NULL for an unknown range */
};

#define TOUCHED_BITS 512

struct touched {
	bool known, adds, removes;
	uint64_t *paths, *dirs; /* sorted hashes of the paths, and of all directories above them */
	size_t npaths, ndirs;
	uint64_t path_bits[TOUCHED_BITS / 64], dir_bits[TOUCHED_BITS / 64];
};

/* Never fails: what cannot be found out by the deadline is not known. */
struct touched *touched_find(struct context *c, const struct repo *r, const struct touched_range *v, size_t n,
	const struct deadline *by);
bool touched_may_conflict(const struct touched *a, const struct touched *b);
void touched_release(struct touched *v, size_t n);

#endif
