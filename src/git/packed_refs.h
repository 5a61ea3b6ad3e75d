/*
 * Looks into packed-refs, which can have megabytes, without reading all of it. The file has a line "OID NAME" for each
 * ref, and after the line of a tag one that begins with '^'. git says in the first line whether they are sorted.
 */
#ifndef GIT_PACKED_REFS_H
#define GIT_PACKED_REFS_H

#include "base/buf.h"
#include "base/err.h"

/* More is not read. */
#define PACKED_REFS_MAX ((size_t)256 << 20)

/* The part of packed-refs in which the ref `name` is if it exists, and the first of those whose names begin with it.
 * The part begins and ends anywhere in a line. A file that is small, or not sorted, is one part. ERR_NOTFOUND if there
 * is no such file. */
int packed_refs_near(int git_dir, const char *name, struct buf *ret, struct err *e);

#endif
