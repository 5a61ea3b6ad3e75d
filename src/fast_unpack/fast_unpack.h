/*
 * garth-fast-unpack unpacks small, simple packs inside the verifier's jail, one after the other, so that a commit
 * does not cost the start of a git. It runs as long as the verifier.
 *
 *	garth-fast-unpack DIR HASH_LEN -- GIT…     GIT… are git's path and settings, up to its verb
 *
 * A pack is plain if it has only whole commits, trees and blobs that pass git's strict check in every
 * version: no deltas, no tags, no signatures, no names that some file system could take for .git or
 * .gitmodules. The rule is narrower than git's on purpose. A pack that is not plain need not be wrong:
 * nothing of it is written, and `git unpack-objects --strict` handles it.
 *
 * git itself computes the ids and writes the objects: three `git hash-object -w`, one per kind, read files in
 * DIR, to which nobody else writes. So git's own check finds SHA-1 collisions.
 *
 * Whether the objects fit together (entries exist and have the right kind) is checked later by the gateway's
 * walk.
 *
 *	in	length (4 bytes, big-endian) and pack
 *	out	'p' plain and written; 'g' left to git
 */
#ifndef FAST_UNPACK_FAST_UNPACK_H
#define FAST_UNPACK_FAST_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#define PLAIN_PACK_MAX    (1u << 20)
#define PLAIN_CONTENT_MAX (4u << 20) /* all objects together */
#define PLAIN_OBJECTS_MAX 100

enum plain_kind { PLAIN_COMMIT = 1, PLAIN_TREE, PLAIN_BLOB, PLAIN_KINDS };

/* data points into the pack's `room`. */
struct plain_object {
	enum plain_kind kind;
	const char *data;
	size_t len;
};

struct plain_pack {
	struct plain_object v[PLAIN_OBJECTS_MAX];
	size_t n;
	char *room; /* PLAIN_CONTENT_MAX bytes, which the caller provides */
};

/* check_commit.c, check_tree.c */
bool plain_commit(const char *data, size_t len, size_t hash_len);
bool plain_tree(const char *data, size_t len, size_t hash_len);

/* read_pack.c: the caller sets ret->room. True if all of the pack is plain; then the rest of ret is filled in. */
bool plain_pack(const char *data, size_t len, size_t hash_len, struct plain_pack *ret);

/* write_objects.c: starts the three gits; git[] is git's path and its settings. If this fails, they
 * must not be used. */
struct plain_writer {
	int in, out; /* the pipes of one git */
};

bool plain_writers_start(char **git, struct plain_writer writers[PLAIN_KINDS]);
/* Has git write all objects of the pack. Blocks until they are written. */
bool plain_write(const struct plain_writer writers[PLAIN_KINDS], const struct plain_pack *pack,
	const char *dir, size_t hash_len);

#endif
