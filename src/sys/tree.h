/*
 * Walks, measures and removes directory trees that may be hostile. It works beneath a descriptor, never on
 * joined paths, and never follows symbolic links.
 */
#ifndef SYS_TREE_H
#define SYS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

#define TREE_MAX_DEPTH 512

/* One entry of a walk: its path beneath the root, the directory that contains it and its name there. */
struct tree_entry {
	const char *path;
	int dir;
	const char *name;
	struct stat st;
	bool closed; /* a directory that cannot be entered: no permission, or too deep */
};

enum tree_next {
	TREE_ON,
	TREE_SKIP /* do not enter this directory */,
	TREE_STOP /* the callback set *e */
};

/* Calls fn for everything beneath root: a directory before its entries, otherwise in no order. Entries that
 * vanish meanwhile are skipped. A directory that cannot be entered (no permission, deeper than
 * TREE_MAX_DEPTH, a path beyond 32 KiB) is passed to fn a second time with `closed` set, so that nobody can
 * hide files or stop a walk with one. Fails if fn returns TREE_STOP. */
typedef enum tree_next tree_fn(const struct tree_entry *t, void *arg, struct err *e);
int tree_walk(int root, tree_fn *fn, void *arg, struct err *e);
/* The same with at most n threads, each with its own arg. Each entry is passed to fn once, in one of the
 * threads, and a directory still comes before its entries. */
#define TREE_MAX_THREADS 4
int tree_walk_many(int root, tree_fn *fn, void *const *args, unsigned n, struct err *e);

/* Gives the owner of dir/name the right to write to it. Moving a directory to another parent rewrites its
 * "..", which needs that right. */
void tree_make_movable(int dir, const char *name);

/* Removes name and everything beneath it, at any depth. It is no error if it does not exist. Directories
 * without permissions, as overlayfs leaves them, are made removable first. */
int tree_remove(int dir, const char *name, struct err *e);
/* The same for at most `max` entries; returns 1 if there are more. */
int tree_remove_some(int dir, const char *name, size_t max, struct err *e);

/* The disk space that everything beneath root uses. A file with several names counts in equal parts for each.
 * */
struct tree_use {
	uint64_t bytes;  /* its blocks, plus TREE_INODE for each inode */
	uint64_t inodes; /* files, directories and everything else */
	size_t closed;   /* directories that could not be read */
};
#define TREE_INODE 512
int tree_use(int root, struct tree_use *ret, struct err *e);
/* The bytes of the directory dir/name; 0 if it does not exist. */
int tree_disk(int dir, const char *name, uint64_t *ret, struct err *e);

#endif
