/*
 * Makes and finds bases: frozen checkouts of a commit, shared read-only by all overlay workspaces on it.
 *
 *	bases/<project>/<commit>/tree    the files; in a delta: the differences from its parent, with whiteouts
 *	bases/<project>/<commit>/index   git's index for them, with its extensions
 *	bases/<project>/<commit>/bound   written last: the path inside that the index' untracked cache is
 *	                                 bound to, empty if it has none; older bases have `seed` instead
 *	bases/<project>/<commit>/parent  only in a delta: the full base below it
 *	bases/<project>/<commit>/boot    until the files are synced: the id of the boot during which they
 *	                                 were made
 *	bases/<project>/<commit>@…/filters  of a submodule: its attributes name filters
 *
 * A base is made in a directory of another name and renamed when it is complete, so a base that exists is
 * complete. After a crash of the machine, one that was not synced is made again. The parent of a delta is
 * always a full base: there are at most two layers.
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
	struct strvec layers; /* paths, topmost first */
	char *index;          /* path */
	char *bound;          /* the file `bound`: "" if the index fits any path; NULL for an older base */
	char *monitor_id; /* the full base's name: the state that the index' fsmonitor extension refers to */
};

void base_release(struct base *b);
#define auto_base __attribute__((cleanup(base_release))) struct base

/* The base of repo->commit; makes it if it is missing, which blocks for a checkout. ERR_REFUSED, with the
 * path, if the commit has something that is not supported: files with a filter other than that of LFS. */
int base_get(const struct home *h, int64_t project, const struct repo *r, struct base *ret, struct err *e);
/* Opens an existing base by its name. */
int base_open(const struct home *h, int64_t project, const char *name, struct base *ret, struct err *e);

/* The base of a submodule: the files of r->commit at `path`, below which an overlay shows them. There are no
 * deltas of these. The name has the path in it. */
int base_get_submodule(const struct home *h, int64_t project, const struct repo *r, const char *path,
	struct base *ret, struct err *e);
char *base_submodule_name(const char *commit, const char *path);
/* Adds the names of all of them. */
int base_list_submodules(int project_fd, struct strvec *ret, struct err *e);

/* Removes the project's bases that `used` does not name, except the newest full one, which speeds up the next
 * task. Also removes what a crash left half made or half removed. With `later`, in the background. The caller
 * must take the project's lock before it finds out which bases are used. */
int base_prune(const struct home *h, int64_t project, const struct strvec *used, bool later, struct err *e);

/* Takes the project's lock: one process at a time makes bases or adds worktrees. For an auto_lock. */
int base_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);
/* Like base_lock, but ERR_BUSY if somebody has it. */
int base_try_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);

/* Whether its index has the extensions that core.fsmonitor needs. With few files, git checks all of them
 * faster than it starts a monitor program. */
bool base_is_monitored(const struct base *b);

/* The program that tells git what has changed, in bases and inside. */
#define BASE_FSMONITOR_PART "garth-fsmonitor"

#endif
