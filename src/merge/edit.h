/*
 * The list of changes that an update makes to the files of a checkout. Each file is recognized by its inode,
 * size and time. The list is stored in a file ("plan") during the update. After a crash it tells for each
 * path whether the file is the old one, the new one, or one that the user wrote since.
 */
#ifndef MERGE_EDIT_H
#define MERGE_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* Without ctime, since moving a file changes it. */
struct mark {
	uint64_t ino;
	int64_t size, seconds, nanos;
	unsigned mode;
};

enum edit_kind {
	EDIT_ADD = 'A',
	EDIT_REPLACE = 'M',
	EDIT_REMOVE = 'D',
	EDIT_FORGET =
		'F', /* only the index changes: the user has deleted the file already, or see `skipped` */
	EDIT_LINK =
		'L' /* a submodule is at another commit: only the index changes; for its files see followers.h */
};

struct edit {
	enum edit_kind kind;
	unsigned old_mode, new_mode;
	char old_oid[OID_SIZE], new_oid[OID_SIZE];
	char *path;
	size_t kept; /* for an added path: length of the directories that existed before */
	bool skipped; /* EDIT_FORGET or EDIT_LINK of a sparse checkout: the index gets the new entry, without a file */
	bool indexed;         /* the index has the path as the old commit has it */
	struct mark was, now; /* the user's file, and its replacement */
};

struct edits {
	struct edit *v; /* sorted by path, like an index */
	size_t n;
	struct buf raw; /* git's output */
};

void edits_release(struct edits *c);
#define auto_edits __attribute__((cleanup(edits_release))) struct edits

/* The differences between two commits. ERR_REFUSED for submodules that are added or removed, and for files with a
 * filter. */
int edits_load(const struct repo *r, const char *from, const char *to, struct edits *ret, struct err *e);
struct edit *edits_find(const struct edits *c, const char *path, size_t len);

/* -1 and errno if there is no such file. */
int mark_take(int dir, const char *name, struct mark *ret);
struct stat;
struct mark mark_of(const struct stat *st);
bool mark_same(const struct mark *a, const struct mark *b);

/* Writes the plan to a file in dir, without modes and ids. */
int edits_write(int dir, const struct edits *c, struct err *e);
/* ERR_NOTFOUND if the update was interrupted before the plan was written. */
int edits_read(int dir, struct edits *ret, struct err *e);

#endif
