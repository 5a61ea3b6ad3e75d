/*
 * A temporary repository to compare a workspace with its base commit. It borrows the shared objects and gets
 * the workspace's changed files as a tree on top of the base. From the agent it takes only file contents and
 * names: no configuration, no programs chosen by attributes, no refs.
 *
 * Order: scratch_open; scratch_ignored and scratch_attributes if needed; scratch_begin, then the changes, scratch_end; then
 * scratch_diff or scratch_pack; scratch_release removes it.
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
	char *dir;        /* its path */
	int parent;       /* the directory that contains it */
	int lock;         /* held while it is in use: scratch_sweep removes those without a holder */
	int stream;       /* the input for fast-import, while it is written */
	int64_t deadline; /* clock_ms by which its git commands must end; 0: ten minutes for each */
	struct buf pending;
	char *base;                          /* the commit of scratch_begin */
	struct strvec converted, executable; /* files that git converts, and the executable ones of them */
};

#define SCRATCH_INIT                                                                                         \
	{                                                                                                    \
		.parent = -1, .lock = -1, .stream = -1                                                       \
	}

/* Creates it in scratch/ of the Garth home (a descriptor, and its path). */
int scratch_open(const struct repo *r, int home, const char *home_path, struct scratch *ret, struct err *e);
void scratch_release(struct scratch *s);
#define auto_scratch __attribute__((cleanup(scratch_release))) struct scratch

/* Finds what dead processes left in scratch/. Their names are added to ret if it is not NULL; with `remove`
 * they are removed. Young ones without a holder are skipped: another process may be creating them. */
int scratch_sweep(int home, bool remove, struct strvec *ret, struct err *e);

/* Adds the base's own ignore or attribute files (paths in it), for scratch_ignored and scratch_attributes. */
int scratch_base_rules(struct scratch *s, const char *base, const struct strvec *paths, struct err *e);
/* Adds such a file with this content at path. */
int scratch_add_rules(struct scratch *s, const char *path, const char *text, size_t len, struct err *e);
/* Adds the user's ignore file, which has the lowest priority. */
int scratch_user_ignores(struct scratch *s, const char *text, size_t len, struct err *e);
/* The paths that the ignore files ignore, in the same form and order. Each path ends in a NUL and begins with
 * "./" (git would read a name that begins with a colon as a pathspec); a directory's ends in "/". An agent
 * can write patterns that take very long: after `seconds` this fails with e->sys ETIMEDOUT, and with EFBIG if
 * the answer does not fit. *out then has the answers so far. */
int scratch_ignored(
	struct scratch *s, const struct buf *paths, unsigned seconds, struct buf *out, struct err *e);
/* The paths that are in the commit `to` and not in `from`, each followed by a NUL. */
int scratch_added(struct scratch *s, const char *from, const char *to, struct buf *out, struct err *e);

/* What git may convert when it stores a file; added together. 0: nothing. */
#define SCRATCH_LINE_ENDS 1u
#define SCRATCH_IDENT     2u /* $Id$ */
#define SCRATCH_CODED     4u /* the file has another encoding */
#define SCRATCH_LFS       8u /* stored as a pointer: lfs.h */
/* What git may convert in the files at these paths, by the attribute files that were added; ret has room for them.
 * An agent can write patterns that take very long, so this fails after SCRATCH_ATTRIBUTES_SECONDS. */
#define SCRATCH_ATTRIBUTES_SECONDS 5
int scratch_attributes(struct scratch *s, const struct strvec *paths, unsigned *ret, struct err *e);

/* The size of the file at each path in a commit, -1 if there is none: ret has room for paths->n numbers. A path
 * with a line break gets 0: not known. */
int scratch_sizes(
	struct scratch *s, const char *commit, const struct strvec *paths, int64_t *ret, struct err *e);

int scratch_begin(struct scratch *s, const char *base, struct err *e);
/* Adds a file's content from a descriptor (at most size bytes), or a link's target. */
int scratch_file(struct scratch *s, const char *path, bool executable, int fd, uint64_t size, struct err *e);
/* The same for a file that git may convert: scratch_end does it as `git add` would. */
int scratch_convert(struct scratch *s, const char *path, bool executable, unsigned form, int fd,
	uint64_t size, struct err *e);
int scratch_link(struct scratch *s, const char *path, const char *text, size_t len, struct err *e);
/* Adds a file whose content is like no other's, for a diff that only compares names. */
int scratch_placeholder(struct scratch *s, const char *path, bool executable, struct err *e);
/* Removes a path and everything beneath it. */
int scratch_gone(struct scratch *s, const char *path, struct err *e);
int scratch_end(struct scratch *s, struct err *e);

/* Writes to a descriptor a pack with everything in the tree that neither `base` nor the shared repository's
 * refs reach; `commit` is the id of the commit with that tree. */
int scratch_pack(struct scratch *s, const char *base, int out_fd, char commit[OID_SIZE], struct err *e);

/* `git diff-tree ARGS… base tree -- PATHS…`. The output goes to out, or to out_fd if out is NULL. */
int scratch_diff(struct scratch *s, const char *base, const struct strvec *args, const struct strvec *paths,
	struct buf *out, int out_fd, struct err *e);

#endif
