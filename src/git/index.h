/*
 * Reads git's index file without git: versions 2 to 4, SHA-1 and SHA-256. It uses only libc and base, because
 * the fsmonitor program inside the jail uses it too. The bytes may be hostile: everything is bounds-checked,
 * and what is not understood is an error.
 */
#ifndef GIT_INDEX_H
#define GIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct index_entry {
	uint32_t ctime_s, ctime_ns, mtime_s, mtime_ns, dev, ino, mode, uid, gid, size;
	const unsigned char *oid;
	unsigned stage;
	bool assume_valid, skip_worktree, intent_to_add;
	const char *path; /* NUL-terminated; valid until the next index_next */
	size_t path_len;
};

/* Reads the bytes of an index in place. Only the path buffer of version 4 is allocated. */
struct index_reader {
	const unsigned char *data, *at, *end; /* end: where the hash at the end begins */
	unsigned version, hash_len;
	uint32_t entries, seen;
	struct buf path; /* version 4's prefix-compressed names */
};

/* hash_len is 20 or 32. ERR_FAILED for anything that is not a complete index. */
int index_open(struct index_reader *r, const void *data, size_t len, unsigned hash_len, struct err *e);
/* 1 and the next entry, 0 after the last, -1. */
int index_next(struct index_reader *r, struct index_entry *ret, struct err *e);
void index_close(struct index_reader *r);

/* The extension with a signature such as "UNTR", or NULL. To be called after the last entry. */
const unsigned char *index_extension(const struct index_reader *r, const char sig[4], size_t *ret_len);

#endif
