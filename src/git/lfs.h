/*
 * Files of Git LFS. A commit has a small text in their place, the pointer, with the SHA-256 and the size of the
 * content. The content is in lfs/objects of the git directory, in a file that is named by its SHA-256. Outside a jail
 * no filter program runs: pointers are replaced by the content here, from the user's store only, and nothing is
 * downloaded. A pointer whose content is not in the store stays a pointer, as with GIT_LFS_SKIP_SMUDGE.
 */
#ifndef GIT_LFS_H
#define GIT_LFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* The attribute's value, and the largest pointer. */
#define LFS_FILTER      "lfs"
#define LFS_POINTER_MAX 1024
/* Beneath a git directory. */
#define LFS_STORE "lfs/objects"

struct lfs_pointer {
	char oid[65]; /* SHA-256 of the content, in hexadecimal */
	uint64_t size;
};

/* False if the bytes are not a pointer. */
bool lfs_parse(const char *data, size_t len, struct lfs_pointer *ret);
void lfs_print(const struct lfs_pointer *p, struct buf *out);
/* The pointer for a file's content; a file that is itself a pointer, or empty, has none: false. -1 in ret->size and
 * false if it cannot be read. */
bool lfs_of_file(int fd, struct lfs_pointer *ret);

/* Whether the file has the content of the pointer. */
bool lfs_is_content(int fd, const struct lfs_pointer *p);

/* Opens the user's store; -1 if the repository has none, and so does not use LFS here. One that is a link does not
 * count: with a link, a downloaded repository could show a task any of the user's directories. */
int lfs_open_store(const struct repo *r);

/* Replaces pointers by the content of the store, in the files beneath `tree` that were just checked out. `g` runs git
 * with the index that they were checked out with; its attributes tell which files are meant. paths are NUL-separated;
 * NULL for all entries of the index. The replaced paths are appended to `filled`, sorted. */
int lfs_fill(const struct repo *r, const struct git *g, const char *tree, const struct buf *paths,
	struct strvec *filled, struct err *e);

/* Stores what lstat says of these files (sorted paths) in the index at `index`, so that git takes them as unchanged.
 * `mine` may be NULL; if it says no, an entry stays as it is. `work_tree` is the path that the index is for. */
typedef bool lfs_mine_fn(const char *path, const struct stat *st, void *arg);
int lfs_stamp(const struct repo *r, const char *index, int tree, const char *work_tree,
	const struct strvec *paths, lfs_mine_fn *mine, void *arg, struct err *e);

/* Whether a store, or the user's, has a file of the pointer's name and size. */
bool lfs_is_in(int store, const struct lfs_pointer *p);
bool lfs_has(const struct repo *r, const struct lfs_pointer *p);
/* Copies the content of a pointer from the directory `from` (laid out like a store; its content is not trusted) into
 * the user's store, unless it is there already. 1 if `from` does not have it, or has other bytes. */
int lfs_carry(const struct repo *r, int from, const struct lfs_pointer *p, struct err *e);

#endif
