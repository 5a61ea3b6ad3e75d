/* Trees and commits as git stores them, taken apart. Bounded by their input; nothing in it is believed. */
#ifndef PUBLISH_WALK_PARSE_H
#define PUBLISH_WALK_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/oid.h"

struct tree_entry {
	const char *name; /* in the tree's data, as oid is */
	const unsigned char *oid;
	unsigned mode;
};

/* Entries sorted by their names as bytes. */
struct tree {
	struct buf data;
	struct tree_entry *v;
	size_t n;
};

void tree_release(struct tree *t);
#define auto_tree __attribute__((cleanup(tree_release))) struct tree
/* Takes t->data apart. NULL, or what is wrong with it. A strict look also refuses what git itself never
 * writes: a name twice, names that mean something to git or to the kernel, a directory's mode with
 * permissions. */
const char *tree_parse(struct tree *t, unsigned hash_len, bool strict);
bool tree_entry_is_dir(const struct tree_entry *t);
bool tree_entry_is_gitlink(const struct tree_entry *t);

#define COMMIT_PARENTS_MAX 64

struct commit {
	char tree[OID_SIZE];
	char parents[COMMIT_PARENTS_MAX][OID_SIZE];
	size_t nparents;
	char *author, *committer; /* "Name <mail>" */
	const char *message;      /* in the data that was parsed */
	bool odd; /* a tree, parent, author or committer stands a second time among further headers */
};

void commit_release(struct commit *c);
#define auto_commit __attribute__((cleanup(commit_release))) struct commit
/* NULL, or what is wrong with it. */
const char *commit_parse(struct commit *c, const struct buf *data, unsigned hash_len);

#endif
