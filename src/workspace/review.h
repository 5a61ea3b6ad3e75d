/*
 * Shows a task's work from outside: git compares the workspace's changes with the base in a scratch
 * repository. Ignored files are left out.
 *
 *	review_open(ws, &r, e); review_diff(&r, …); review_names(&r, …); review_release(&r)
 *
 * Nothing from the workspace is executed, and git never runs in it.
 */
#ifndef WORKSPACE_REVIEW_H
#define WORKSPACE_REVIEW_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "git/scratch.h"
#include "workspace/ignored.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

/* Why a snapshot cannot store a path that a rollback would lose. */
enum review_bar {
	REVIEW_CLOSED,    /* it cannot be read */
	REVIEW_TOO_LARGE, /* too large, or too many files */
	REVIEW_IN_THE_WAY /* git tracks something else at the path */
};

/* What a snapshot cannot store. If there are very many paths, their topmost directories are named instead. */
struct review_left {
	struct strvec stays;   /* can stay in place: the agent's own repositories, large ignored files */
	struct strvec bars;    /* would be lost: unreadable directories, too large files */
	struct strvec why;     /* a line for each of bars: "big (700 MB, too large)" */
	enum review_bar first; /* why the first of bars cannot be stored */
	bool many;             /* too many to name them one by one */
};
void review_left_release(struct review_left *l);
#define auto_review_left __attribute__((cleanup(review_left_release))) struct review_left
/* Adds a path to bars, with its line. */
void review_left_bar(struct review_left *l, const char *path, enum review_bar why, const char *line);
/* Appends all paths as lines for people. */
void review_left_lines(const struct review_left *l, struct strvec *ret);

struct review {
	struct scratch scratch;
	const char *base;
	uint64_t shown;        /* bytes of content so far */
	uint64_t hashed;       /* the same of LFS files, of which only the pointer is shown */
	uint64_t ignored_room; /* bytes of ignored files that are included anyway */
	size_t ignored;        /* number of files left out because they are ignored */
	struct strvec apart;   /* what cannot be shown but may be work, a line each: "lib (a repository)" */
	struct strvec unseen_by_git; /* FIFOs and sockets, which git does not see: they are no work */
	struct hidden hidden;        /* filled in by review_open: the ignored files */
	bool names_only;             /* only names are compared: contents are read only if needed */
	struct review_left *left;    /* review_keep: what cannot be stored; else NULL */
	unsigned seconds;            /* for all runs of git together; 0: ten minutes for each */
};

/* A verdict that takes longer becomes "cannot tell": a user, or the end of a task, is waiting for it. */
#define REVIEW_SECONDS 20

/* Contents beyond these sizes are named but not shown: of one file, and in all. */
#define REVIEW_FILE_MAX (100u << 20)
#define REVIEW_ALL_MAX  (512u << 20)
/* The same for LFS files. */
#define REVIEW_LFS_MAX     (1ull << 30)
#define REVIEW_LFS_ALL_MAX (1ull << 30)

int review_open(struct workspace *ws, struct review *ret, struct err *e);
/* Lists what git would call uncommitted at the commit `tip`, as lines "A path", "M path", "D path", and "?
 * path (why)" for what cannot be compared. *ret_ignored is the number of ignored files. Fast if nothing was
 * changed. */
int review_uncommitted(
	struct workspace *ws, const char *tip, struct strvec *ret, size_t *ret_ignored, struct err *e);
/* Sets `ignored` in each of a scan's changes. */
int review_ignored(struct workspace *ws, struct changes *c, struct err *e);
void review_release(struct review *r);
#define auto_review __attribute__((cleanup(review_release))) struct review

/* For snapshots: writes everything that the workspace has beyond its commit as a pack to a descriptor,
 * including up to REVIEW_IGNORED_MAX bytes of ignored files. Files that the agent made unreadable get a
 * readable mode while they are read. */
#define REVIEW_IGNORED_MAX (64u << 20)
int review_keep(
	struct workspace *ws, int out_fd, char commit[OID_SIZE], struct review_left *left, struct err *e);

/* Runs `git diff-tree` with these arguments, restricted to paths (may be NULL). The output goes to `out`, or
 * to out_fd if that is NULL. */
int review_diff(struct review *r, const struct strvec *args, const struct strvec *paths, struct buf *out,
	int out_fd, struct err *e);
/* Lists the changed paths as lines "A path", "M path", "D path". */
int review_names(struct review *r, struct strvec *ret, struct err *e);

#endif
