/*
 * What a workspace holds that its base does not, read from outside and trusting nothing in it: a list of
 * paths with what stands there now. It may name paths whose content is the same after all; comparing is
 * review.h's part.
 */
#ifndef WORKSPACE_SCAN_H
#define WORKSPACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/index.h"
#include "workspace/workspace.h"

enum change_kind {
	CHANGE_FILE,
	CHANGE_LINK,
	CHANGE_GONE,   /* the path and all beneath it */
	CHANGE_OPAQUE, /* a directory that hides what the base has in it; what is in it now follows */
	CHANGE_ODD,    /* a FIFO, a socket: not for git */
	CHANGE_CLOSED, /* a directory that cannot be looked into */
	CHANGE_REPO,   /* a repository that the agent made, as a whole */
};

struct change {
	char *path;
	enum change_kind kind;
	bool executable;
	bool tracked; /* the base has it */
	bool ignored;
	uint64_t size;
};

struct changes {
	struct change *v;
	size_t n, cap;
	size_t dirs;        /* scan_whole: more directories than the base has */
	uint64_t dir_bytes; /* scan_whole: what directories take beyond a block for each of the base's */
	int root;           /* where the files are, to be opened beneath */
	struct strvec base_ignores; /* the base's .gitignore files */
	bool has_rules;             /* ignored.h: the scratch repository has the ignore files */
	char *cannot_tell;          /* ignored.h: why some are not known to be ignored, or NULL */
};

/* More than this, in paths and in their bytes, is not listed: the scan fails and says so. */
#define CHANGES_MAX       2000000
#define CHANGES_BYTES_MAX (64u << 20)

void changes_release(struct changes *c);
#define auto_changes __attribute__((cleanup(changes_release))) struct changes

/* The names of an index, to ask what the base has. */
struct tracked {
	struct buf names; /* NUL-terminated, one after the other */
	struct tracked_entry {
		size_t name; /* offset into names */
		uint32_t ctime_s, ctime_ns, mtime_s, mtime_ns, ino, size;
		bool seen;
	} * v;
	size_t n;
};

int tracked_load(const char *index, unsigned hash_len, struct tracked *ret, struct err *e);
void tracked_release(struct tracked *t);
#define auto_tracked __attribute__((cleanup(tracked_release))) struct tracked
/* near, all zero at first, remembers the directory: the next path is most often in the same one. */
struct tracked_range {
	size_t lo, hi, len;
};
struct tracked_entry *tracked_find(const struct tracked *t, const char *path, struct tracked_range *near);
/* Whether the base has files beneath a directory. */
bool tracked_has_dir(const struct tracked *t, const char *dir);

/* An upper directory of an overlay: nearly the list itself. root is taken over. */
int scan_upper(int root, const struct tracked *t, struct changes *ret, struct err *e);
/* A directory with all files in it, against the stat data in the index. root is taken over. */
int scan_whole(int root, struct tracked *t, struct changes *ret, struct err *e);

#endif
