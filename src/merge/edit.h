/*
 * What an update does to the files of a checkout, path by path, and how each file is known again: by its
 * inode, size and time. The list is kept in a file ("plan") while the update goes on, so that after a crash
 * each path can be told to be as it was, as it was meant to become, or as the user made it since.
 */
#ifndef MERGE_EDIT_H
#define MERGE_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* ctime is not part of it: moving a file changes it. */
struct mark {
	uint64_t ino;
	int64_t size, seconds, nanos;
	unsigned mode;
};

enum edit_kind {
	EDIT_ADD = 'A',
	EDIT_REPLACE = 'M',
	EDIT_REMOVE = 'D',
	EDIT_FORGET = 'F' /* removed, and the user's file is gone already: only the index changes */
};

struct edit {
	enum edit_kind kind;
	unsigned old_mode, new_mode;
	char old_oid[OID_SIZE], new_oid[OID_SIZE];
	char *path;
	size_t kept;          /* of an added path: how much of it were directories before */
	bool indexed;         /* the index has it as the old commit does */
	struct mark was, now; /* the user's file, and the one that takes its place */
};

struct edits {
	struct edit *v; /* sorted by path, as an index is */
	size_t n;
	struct buf raw; /* as git printed it */
};

void edits_release(struct edits *c);
#define auto_edits __attribute__((cleanup(edits_release))) struct edits

/* What differs between two commits. ERR_REFUSED for submodules and for files that go through a filter. */
int edits_load(const struct repo *r, const char *from, const char *to, struct edits *ret, struct err *e);
struct edit *edits_find(const struct edits *c, const char *path, size_t len);

/* -1 and errno where there is no such file. */
int mark_take(int dir, const char *name, struct mark *ret);
struct stat;
struct mark mark_of(const struct stat *st);
bool mark_same(const struct mark *a, const struct mark *b);

/* The plan's file in dir. Modes and ids are not in it. */
int edits_write(int dir, const struct edits *c, struct err *e);
/* ERR_NOTFOUND where the update had not come so far. */
int edits_read(int dir, struct edits *ret, struct err *e);

#endif
