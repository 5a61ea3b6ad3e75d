/*
 * A set of object ids (hexadecimal, as git prints them), each with a number (mark) that is 0 at first. A
 * zeroed struct is an empty set; the caller sets hash_len (20 or 32) before the first use. An agent chooses
 * the ids: so that it cannot choose ones that collide in the table and make it slow, the table hashes with a
 * secret key.
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
/* False if it was in the set already. hex must have 2 * hash_len characters; other text is never in a set. */
bool oidset_add(struct oidset *s, const char *hex);
bool oidset_add_raw(struct oidset *s, const unsigned char *oid);
bool oidset_has(const struct oidset *s, const char *hex);
bool oidset_has_raw(const struct oidset *s, const unsigned char *oid);
/* The mark of an id in the set, valid until the next add; NULL if the id is not in the set. */
uint64_t *oidset_mark(const struct oidset *s, const unsigned char *oid);

#endif
