/* The gits of an overview: each answers for many commits at once. Commits are named by full ids. */
#ifndef MERGE_OVERVIEW_GIT_H
#define MERGE_OVERVIEW_GIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/deadline.h"
#include "base/err.h"
#include "base/oid.h"
#include "git/repo.h"
#include "merge/overview.h"

/* One commit of which something is asked, and the answers. */
struct overview_tip {
	const char *oid;
	bool exists;
	char *subject;
	bool placed; /* the next two are known */
	size_t ahead;
	char fork[OID_SIZE]; /* the newest commit that it has in common with the target */
	bool measured;
	struct overview_diff diff;
};

/* Sets exists and subject. */
int overview_subjects(
	const struct repo *r, struct overview_tip *v, size_t n, const struct deadline *by, struct err *e);
/* Sets placed, ahead and fork of those that exist and have exactly one such commit: all but tasks that merged
 * the target themselves, or that have no commit in common with it. */
int overview_place(const struct repo *r, const char *target, struct overview_tip *v, size_t n,
	const struct deadline *by, struct err *e);
/* Sets measured and diff of those that are placed and not measured yet. No program that the repository's
 * configuration names is run. If a single diff takes too long, it is measured as unknown: all zero, and files is
 * SIZE_MAX. */
int overview_measure(
	const struct repo *r, struct overview_tip *v, size_t n, const struct deadline *by, struct err *e);

#endif
