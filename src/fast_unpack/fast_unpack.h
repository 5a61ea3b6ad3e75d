/*
 * garth-fast-unpack, in the verifier's jail: takes small packs apart that are plain, one after the other, so that
 * a commit does not cost a start of git's. It runs for as long as the verifier.
 *
 *	garth-fast-unpack DIR HASH_LEN -- GIT…     GIT… are git's path and settings, up to its verb
 *
 * Plain is a pack of whole commits, trees and blobs of which git's strict check has nothing to say, whatever
 * its version: no differences, no tags, no signatures, no names that some file system could take for .git or
 * .gitmodules. The rule is narrower than git's on purpose. What is not plain is not wrong: it is left to
 * `git unpack-objects --strict`, and nothing of it is written.
 *
 * Names are given and objects are written by git itself: by three `git hash-object -w` (one for each kind),
 * which are handed files in DIR, where nobody else writes. So a collision of SHA-1 is found by whoever always
 * finds it.
 *
 * Whether the objects fit together (entries exist, and are what they are said to be) is the gateway's walk's.
 *
 *	down	length (4 bytes, the highest first) and pack
 *	up	'p' plain, and written; 'g' left to git
 */
#ifndef FAST_UNPACK_FAST_UNPACK_H
#define FAST_UNPACK_FAST_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#define PLAIN_PACK_MAX    (1u << 20)
#define PLAIN_CONTENT_MAX (4u << 20) /* of all objects */
#define PLAIN_OBJECTS_MAX 100

enum plain_kind { PLAIN_COMMIT = 1, PLAIN_TREE, PLAIN_BLOB, PLAIN_KINDS };

/* Points into the room that was given. */
struct plain_object {
	enum plain_kind kind;
	const char *data;
	size_t len;
};

struct plain_pack {
	struct plain_object v[PLAIN_OBJECTS_MAX];
	size_t n;
	char *room; /* PLAIN_CONTENT_MAX bytes, the caller's */
};

/* commit.c, tree.c */
bool plain_commit(const char *data, size_t len, size_t hash_len);
bool plain_tree(const char *data, size_t len, size_t hash_len);

/* pack.c: ret->room is given; the rest is filled in where all of it is plain. */
bool plain_pack(const char *data, size_t len, size_t hash_len, struct plain_pack *ret);

/* hand.c: the three gits, which argv[0] and the settings after it name. False: they are not to be used. */
struct plain_hand {
	int in, out; /* of one git */
};

bool plain_hands_start(char **git, struct plain_hand hands[PLAIN_KINDS]);
/* Has all of them written. */
bool plain_hand_over(const struct plain_hand hands[PLAIN_KINDS], const struct plain_pack *pack,
	const char *dir, size_t hash_len);

#endif
