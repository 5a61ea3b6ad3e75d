/*
 * Lists how a workspace differs from its base: paths, and what is there now. It reads from outside and trusts
 * nothing in the workspace. Some listed paths may have the same content after all; review.h compares
 * contents.
 */
#ifndef WORKSPACE_SCAN_H
#define WORKSPACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/index.h"
#include "workspace/workspace.h"

enum change_kind {
	CHANGE_FILE,
	CHANGE_LINK,
	CHANGE_GONE,   /* the path and everything below it is gone */
	CHANGE_OPAQUE, /* a directory that hides the base's files in it; its present entries follow */
	CHANGE_ODD,    /* a FIFO or a socket: git ignores these */
	CHANGE_CLOSED, /* a directory that cannot be read */
	CHANGE_REPO,   /* a repository that the agent made; its files are not listed */
};

struct change {
	char *path;
	enum change_kind kind;
	bool executable;
	bool tracked; /* the base has it */
	bool ignored;
	bool brought;  /* Garth brought a file to this path (layer.h) */
	int layer;     /* its content is in this one of the layers, from 1; 0: in the root */
	unsigned form; /* for converted.c: what git may convert (git/scratch.h) */
	bool differs;  /* for review.c: its size shows that it is not what the tip has */
	uint64_t size;
};

struct changes {
	struct change *v;
	size_t n, cap;
	size_t dirs;        /* scan_whole: number of directories beyond the base's */
	uint64_t dir_bytes; /* scan_whole: size of directories beyond one block for each of the base's */
	int root;           /* the directory with the files; open them beneath it */
	int layers[4];      /* an overlay's layers (layer_use.h) */
	size_t nlayers;
	struct strvec base_ignores;    /* the base's .gitignore files */
	struct strvec base_attributes; /* its .gitattributes files */
	bool has_rules;                /* for ignored.c: the scratch repository has the ignore files */
	char *cannot_tell; /* for ignored.c: why it is not known which files are ignored, or NULL */
};

/* If there are more paths, or more bytes of paths, the scan fails and says so. */
#define CHANGES_MAX       2000000
#define CHANGES_BYTES_MAX (64u << 20)

void changes_release(struct changes *c);
#define auto_changes __attribute__((cleanup(changes_release))) struct changes

/* The paths in an index: what the base has. */
struct tracked {
	struct buf names; /* NUL-terminated, one after the other */
	struct tracked_entry {
		size_t name; /* offset into names */
		uint32_t ctime_s, ctime_ns, mtime_s, mtime_ns, ino, size;
		bool seen;
		bool gitlink; /* a submodule: a directory */
	} * v;
	size_t n;
};

int tracked_load(const char *index, unsigned hash_len, struct tracked *ret, struct err *e);
/* The same from a commit, without stat data. */
int tracked_of_commit(const struct repo *r, const char *commit, struct tracked *ret, struct err *e);
void tracked_release(struct tracked *t);
#define auto_tracked __attribute__((cleanup(tracked_release))) struct tracked
/* Start with near all zero. It caches the range of a directory, since the next path is usually in the same
 * one. */
struct tracked_range {
	size_t lo, hi, len;
};
struct tracked_entry *tracked_find(const struct tracked *t, const char *path, struct tracked_range *near);
/* Whether the base has files below a directory. */
bool tracked_has_dir(const struct tracked *t, const char *dir);
/* Whether there is anything at the path: a file, a directory, or a file in place of a directory above it. */
bool tracked_has_at(const struct tracked *t, const char *path);

/* Lists the changes in an overlay's upper directory, whose entries are nearly the list. Takes over root. `apart`
 * are paths of directories that are not looked into: submodules with their own files; NULL for none. */
int scan_upper(
	int root, const struct tracked *t, const struct strvec *apart, struct changes *ret, struct err *e);
/* Compares a complete checkout with the stat data in the index. Takes over root. `brought` has the stat data of
 * files that Garth brought in, or is NULL; those that have not changed are left out. */
int scan_whole(
	int root, struct tracked *t, const struct tracked *brought, struct changes *ret, struct err *e);
/* Adds a file of an overlay's layer. */
void scan_add_below(struct changes *c, const char *path, const struct stat *st, int layer);

#endif
