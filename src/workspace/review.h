/*
 * Looking at a task's work from outside: the changes against the base, compared by git in a scratch
 * repository, ignored files set aside.
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

/* Why a snapshot cannot hold a path that would be lost. */
enum review_bar {
	REVIEW_CLOSED,    /* it cannot be read */
	REVIEW_TOO_LARGE, /* too large, or too many */
	REVIEW_IN_THE_WAY /* git has something else in its place */
};

/* What a snapshot cannot hold. Paths are those of its topmost directories where there are very many. */
struct review_left {
	struct strvec stays;   /* may be left in its place: repositories of the agent's own, too much that is
				ignored */
	struct strvec bars;    /* would be lost: directories that cannot be looked into, files that are too
				large; paths, */
	struct strvec why;     /* and for each a line: "big (700 MB, too large)" */
	enum review_bar first; /* why the first of bars is there */
	bool many;             /* more than can be named one by one */
};
void review_left_release(struct review_left *l);
#define auto_review_left __attribute__((cleanup(review_left_release))) struct review_left
/* One more of bars, with its line. */
void review_left_bar(struct review_left *l, const char *path, enum review_bar why, const char *line);
/* Its paths as lines for people. */
void review_left_lines(const struct review_left *l, struct strvec *ret);

struct review {
	struct scratch scratch;
	const char *base;
	uint64_t shown;        /* bytes taken so far */
	uint64_t ignored_room; /* bytes of ignored files that are taken all the same */
	size_t ignored;        /* files that are not shown because ignore files say so */
	struct strvec apart;   /* what cannot be shown and may be work, a line each: "lib (a repository)" */
	struct strvec unseen_by_git; /* FIFOs and sockets: git has no eyes for them, so they are no work */
	struct hidden hidden;        /* review_open: what ignore files set aside */
	struct review_left *left;    /* where it is kept and not shown: what cannot be */
	unsigned seconds;            /* for all its gits together; 0: ten minutes for each */
};

/* A verdict that takes longer is "cannot tell": somebody waits for it, or for the task to end. */
#define REVIEW_SECONDS 20

/* File contents beyond these are named, not shown: of one file, and in all. */
#define REVIEW_FILE_MAX (100u << 20)
#define REVIEW_ALL_MAX  (512u << 20)

int review_open(struct workspace *ws, struct review *ret, struct err *e);
/* What git would call uncommitted at the commit `tip`, as lines "A path", "M path", "D path", and "? path
 * (why)" for what cannot be compared or told; *ret_ignored: how many files ignore files set aside. Quick
 * where nothing was touched. */
int review_uncommitted(
	struct workspace *ws, const char *tip, struct strvec *ret, size_t *ret_ignored, struct err *e);
/* Fills in which of a scan's changes are ignored. */
int review_ignored(struct workspace *ws, struct changes *c, struct err *e);
void review_release(struct review *r);
#define auto_review __attribute__((cleanup(review_release))) struct review

/* Everything that the workspace holds beyond its commit, ignored files too as far as they are not more than
 * REVIEW_IGNORED_MAX in all, as a pack to a descriptor: for snapshots. Files that the task has closed to
 * itself are opened for as long as that takes. */
#define REVIEW_IGNORED_MAX (64u << 20)
int review_keep(
	struct workspace *ws, int out_fd, char commit[OID_SIZE], struct review_left *left, struct err *e);

/* `git diff-tree` with these arguments, restricted to paths (may be NULL), to out or, where NULL, to out_fd.
 */
int review_diff(struct review *r, const struct strvec *args, const struct strvec *paths, struct buf *out,
	int out_fd, struct err *e);
/* The changed paths as lines "A path", "M path", "D path". */
int review_names(struct review *r, struct strvec *ret, struct err *e);

#endif
