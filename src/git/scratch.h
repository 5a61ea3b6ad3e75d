/*
 * A throw-away repository for looking at what a workspace holds: it borrows the shared objects, gets the
 * workspace's changed files as a tree on top of the base commit, and lets git compare. Nothing of the agent's
 * is in it but file contents and names; no configuration, no attributes' programs, no refs.
 *
 * Order: scratch_open; scratch_ignored as wanted; scratch_begin, then the changes, scratch_end; scratch_diff.
 */
#ifndef GIT_SCRATCH_H
#define GIT_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

struct scratch {
	const struct repo *repo;
	char *dir;        /* its path; removed by scratch_release */
	int parent;       /* the directory that holds it */
	int lock;         /* held for as long as this is in use: others sweep up what nobody holds */
	int stream;       /* what is being written for fast-import */
	int64_t deadline; /* clock_ms by which its gits must be done; 0: each has ten minutes */
	struct buf pending;
};

#define SCRATCH_INIT                                                                                         \
	{                                                                                                    \
		.parent = -1, .lock = -1, .stream = -1                                                       \
	}

/* Makes it in scratch/ of the Garth home (a descriptor, and its path). */
int scratch_open(const struct repo *r, int home, const char *home_path, struct scratch *ret, struct err *e);
void scratch_release(struct scratch *s);
#define auto_scratch __attribute__((cleanup(scratch_release))) struct scratch

/* What processes that died left in scratch/: names, where ret is not NULL; with `remove` they go. Young ones
 * that nobody holds may be in the making, and count for nothing. */
int scratch_sweep(int home, bool remove, struct strvec *ret, struct err *e);

/* The base's own ignore files (paths in it), for scratch_ignored. */
int scratch_base_ignores(struct scratch *s, const char *base, const struct strvec *paths, struct err *e);
/* Puts an ignore file with this content at path, for scratch_ignored. */
int scratch_add_ignore(struct scratch *s, const char *path, const char *text, size_t len, struct err *e);
/* The user's own ignore file, which counts least. */
int scratch_user_ignores(struct scratch *s, const char *text, size_t len, struct err *e);
/* Which of the paths the ignore files ignore: the same form, in the same order. Each path ends in a NUL and
 * begins with "./" (a name that begins with a colon would be magic); a directory's ends in "/". Patterns can
 * be made to take for ever: after `seconds` this fails with e->sys ETIMEDOUT, and with EFBIG if the answer
 * does not fit; *out then has what was answered so far. */
int scratch_ignored(
	struct scratch *s, const struct buf *paths, unsigned seconds, struct buf *out, struct err *e);
/* The paths that the commit `to` has and `from` has not, each with a NUL behind it. */
int scratch_added(struct scratch *s, const char *from, const char *to, struct buf *out, struct err *e);

int scratch_begin(struct scratch *s, const char *base, struct err *e);
/* A file's content from a descriptor (at most size bytes are taken), or a link's text. */
int scratch_file(struct scratch *s, const char *path, bool executable, int fd, uint64_t size, struct err *e);
int scratch_link(struct scratch *s, const char *path, const char *text, size_t len, struct err *e);
/* A path, and all beneath it, that is not there any more. */
int scratch_gone(struct scratch *s, const char *path, struct err *e);
int scratch_end(struct scratch *s, struct err *e);

/* What the tree has that `base` and the shared repository's refs do not reach, as a pack, to a descriptor;
 * the id of the commit that holds it all. */
int scratch_pack(struct scratch *s, const char *base, int out_fd, char commit[OID_SIZE], struct err *e);

/* `git diff-tree ARGS… base tree -- PATHS…`, output to out, or to a descriptor where out is NULL. */
int scratch_diff(struct scratch *s, const char *base, const struct strvec *args, const struct strvec *paths,
	struct buf *out, int out_fd, struct err *e);

#endif
