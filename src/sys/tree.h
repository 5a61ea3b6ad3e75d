/*
 * Directory trees that may be hostile: walked and removed beneath a descriptor, never by joined paths, with
 * symbolic links never followed.
 */
#ifndef SYS_TREE_H
#define SYS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

#define TREE_MAX_DEPTH 512

/* What tree_walk shows: an entry, its path beneath the root, the directory that holds it and its name there.
 */
struct tree_entry {
	const char *path;
	int dir;
	const char *name;
	struct stat st;
	bool closed; /* a directory that cannot be gone into: no permission, or too deep */
};

enum tree_next {
	TREE_ON,
	TREE_SKIP /* do not go into this directory */,
	TREE_STOP /* the callback set *e */
};

/* Calls fn for everything beneath root, a directory before what is in it, entries in no order. An entry that
 * vanishes meanwhile is passed over. A directory that cannot be gone into (no permission, deeper than
 * TREE_MAX_DEPTH, a path beyond 32 KiB) is shown a second time, marked `closed`, so that nobody can hide
 * things or stop a walk by making one. Fails where fn says TREE_STOP. */
typedef enum tree_next tree_fn(const struct tree_entry *t, void *arg, struct err *e);
int tree_walk(int root, tree_fn *fn, void *arg, struct err *e);
/* The same with n threads at most, each with an arg of its own: fn sees each entry once, in one of them. A
 * directory still comes before what is in it. */
#define TREE_MAX_THREADS 4
int tree_walk_many(int root, tree_fn *fn, void *const *args, unsigned n, struct err *e);

/* Moving a directory to another one rewrites its "..", which needs the right to write in it: gives that to
 * its owner. name is beneath dir. */
void tree_make_movable(int dir, const char *name);

/* Removes name and everything beneath it; what is not there is fine. Directories without permissions (as
 * overlayfs leaves them) are made removable first. Any depth. */
int tree_remove(int dir, const char *name, struct err *e);
/* The same, but no more than `max` entries: 1 where there is more. */
int tree_remove_some(int dir, const char *name, size_t max, struct err *e);

/* The room that everything beneath takes. Of a file with several names each has its part. */
struct tree_use {
	uint64_t bytes;  /* its blocks, and TREE_INODE for each inode */
	uint64_t inodes; /* files, directories and all else */
	size_t closed;   /* directories that could not be looked into */
};
#define TREE_INODE 512
int tree_use(int root, struct tree_use *ret, struct err *e);
/* Its bytes, of a directory that need not be there. */
int tree_disk(int dir, const char *name, uint64_t *ret, struct err *e);

#endif
