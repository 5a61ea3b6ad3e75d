/*
 * A set of object names (hexadecimal, as git prints them), each with a number that is 0 at first. hash_len
 * (20 or 32) is set by the caller before anything else; all of it zero besides is an empty set. Names come
 * from git, which an agent feeds: whoever can choose which hashes collide in the table can make it slow, so
 * the table hashes with a key of its own.
 */
#ifndef PUBLISH_OIDSET_H
#define PUBLISH_OIDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/oid.h"

struct oidset {
	unsigned char (*v)[OID_RAW_MAX];
	bool *used;
	uint64_t *marks;
	size_t n, cap; /* cap is a power of two, or 0 */
	unsigned hash_len;
	uint64_t key;
};

void oidset_release(struct oidset *s);
#define auto_oidset __attribute__((cleanup(oidset_release))) struct oidset
/* False where it was there already. hex is 2 * hash_len characters; what is not is never in a set. */
bool oidset_add(struct oidset *s, const char *hex);
bool oidset_add_raw(struct oidset *s, const unsigned char *oid);
bool oidset_has(const struct oidset *s, const char *hex);
bool oidset_has_raw(const struct oidset *s, const unsigned char *oid);
/* The number of one that is in it, good until the next is added; NULL where it is not. */
uint64_t *oidset_mark(const struct oidset *s, const unsigned char *oid);

#endif
