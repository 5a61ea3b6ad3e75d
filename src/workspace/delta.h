/*
 * Deltas: the base of a commit near one that has a full base, as one more layer with only what differs. Files
 * are checked out into the layer, removed ones become whiteouts: what an overlay would have written.
 */
#ifndef WORKSPACE_DELTA_H
#define WORKSPACE_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "workspace/home.h"

/* Makes the base of r->commit as a delta in the empty base directory dir (its path too). 0 when made, 1 when
 * no full base is near enough, -1. */
int delta_make(const struct home *h, int64_t project, int project_fd, const struct repo *r, int dir,
	const char *path, struct err *e);
/* The names of a project's bases (full ones only, if so asked). */
int delta_list(int project_fd, bool full_only, struct strvec *ret, struct err *e);
/* The newest full base's name, on the heap, or NULL. */
char *delta_newest_full(int project_fd);

#endif
