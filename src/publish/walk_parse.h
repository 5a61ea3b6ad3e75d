/* Parses trees and commits as git stores them. The input is hostile. */
#ifndef PUBLISH_WALK_PARSE_H
#define PUBLISH_WALK_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/oid.h"

struct tree_entry {
	const char *name; /* name and oid point into the tree's data */
	const unsigned char *oid;
	unsigned mode;
};

/* Entries, sorted by name as bytes. */
struct tree {
	struct buf data;
	struct tree_entry *v;
	size_t n;
};

void tree_release(struct tree *t);
#define auto_tree __attribute__((cleanup(tree_release))) struct tree
/* Parses t->data. Returns NULL, or what is wrong. strict also refuses what git never writes: a name twice,
 * names with a meaning for git or the kernel, a directory's mode with permission bits. */
const char *tree_parse(struct tree *t, unsigned hash_len, bool strict);
bool tree_entry_is_dir(const struct tree_entry *t);
bool tree_entry_is_gitlink(const struct tree_entry *t);

#define COMMIT_PARENTS_MAX 64

struct commit {
	char tree[OID_SIZE];
	char parents[COMMIT_PARENTS_MAX][OID_SIZE];
	size_t nparents;
	char *author, *committer; /* "Name <mail>" */
	const char *message;      /* points into the parsed data */
	bool odd; /* tree, parent, author or committer appears again among the further headers */
};

void commit_release(struct commit *c);
#define auto_commit __attribute__((cleanup(commit_release))) struct commit
/* Returns NULL, or what is wrong. */
const char *commit_parse(struct commit *c, const struct buf *data, unsigned hash_len);

#endif
