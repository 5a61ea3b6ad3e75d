/*
 * Bases: frozen checkouts, shared read-only by every overlay workspace on a commit.
 *
 *	bases/<project>/<commit>/tree    the files; of a delta: what differs from its parent, with whiteouts
 *	bases/<project>/<commit>/index   git's index for them, extensions filled in
 *	bases/<project>/<commit>/bound   the last that is written: the path inside to which the index'
 *	                                 untracked cache is bound, nothing if it has none; older bases have
 *	                                 `seed`
 *	bases/<project>/<commit>/parent  of a delta: the full base it lies on
 *	bases/<project>/<commit>/boot    until the files are on disk for sure: the boot during which they were
 *	                                 made
 *
 * A base is made in a directory of another name and renamed when it is whole, so what is there is whole; one
 * that a crash of the machine may have torn is made again. A delta always lies on a full base: two layers at
 * the most.
 */
#ifndef WORKSPACE_BASE_H
#define WORKSPACE_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "workspace/home.h"

struct base {
	char *name;           /* the commit */
	struct strvec layers; /* paths, top-most first */
	char *index;          /* path */
	char *bound;          /* the path inside to which the index is bound; "" for any, NULL for none */
	char *monitor_id; /* names the state that the index' fsmonitor extension speaks of: the full base */
};

void base_release(struct base *b);
#define auto_base __attribute__((cleanup(base_release))) struct base

/* The base of repo->commit, made if it is not there. ERR_REFUSED, with the path, where the commit holds what
 * is not carried yet: submodules, files with a filter (LFS). */
int base_get(const struct home *h, int64_t project, const struct repo *r, struct base *ret, struct err *e);
/* An existing one by its name. */
int base_open(const struct home *h, int64_t project, const char *name, struct base *ret, struct err *e);

/* Removes the bases of a project that `used` does not name, but for the newest full one, which stays warm.
 * What a crash left half made or half removed goes too. With `later`, in the background. The caller holds the
 * project's lock since before it asked which ones are used. */
int base_prune(const struct home *h, int64_t project, const struct strvec *used, bool later, struct err *e);

/* Serialises what is done to a project: making bases, adding worktrees. For an auto_lock. */
int base_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);
/* The same, but ERR_BUSY where somebody has it. */
int base_try_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);

/* Whether its index has what core.fsmonitor needs. Where there are few files, git looks at all of them faster
 * than it starts a program that says which. */
bool base_is_monitored(const struct base *b);

/* The program that answers git's question what has changed, in bases and inside. */
#define BASE_FSMONITOR_PART "garth-fsmonitor"

#endif
