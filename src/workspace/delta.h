/*
 * Makes deltas. If a full base of a nearby commit exists, the base of another commit is one more layer on top
 * of it with the differences only: changed files are checked out into the layer and removed ones become
 * whiteouts, as an overlay would have written them.
 */
#ifndef WORKSPACE_DELTA_H
#define WORKSPACE_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "workspace/home.h"

/* Makes the base of r->commit as a delta in the empty base directory `dir`, whose path is `path`. Returns 0
 * if it was made, 1 if no full base is near enough, or -1. */
int delta_make(const struct home *h, int64_t project, int project_fd, const struct repo *r, int dir,
	const char *path, struct err *e);
/* The names in a project's directory of bases: all of them, leftovers and "." too. */
int delta_names(int project_fd, struct strvec *ret, struct err *e);
/* The names of a project's bases; with full_only, of the full ones. */
int delta_list(int project_fd, bool full_only, struct strvec *ret, struct err *e);
/* The newest full base's name, on the heap, or NULL. */
char *delta_newest_full(int project_fd);

#endif
