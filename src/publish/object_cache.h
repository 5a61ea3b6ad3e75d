/*
 * A cache of commits and trees that were read lately: one publish reads the same objects several times, and
 * those of the publish before. An entry says nothing about whether the object still exists; whoever removes
 * objects releases the cache.
 */
#ifndef PUBLISH_OBJECT_CACHE_H
#define PUBLISH_OBJECT_CACHE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/oid.h"

/* Larger objects are not cached. A new entry replaces the old one in its place. */
#define OBJECT_CACHE_SIZE   (16u << 10)
#define OBJECT_CACHE_PLACES 64

struct object_cache {
	struct {
		char oid[OID_SIZE];
		int type; /* enum object_type */
		char *data;
		size_t len;
	} places[OBJECT_CACHE_PLACES];
};

void object_cache_add(struct object_cache *k, const char *oid, int type, const struct buf *content);
/* Appends the content to out; false if the object is not cached with that type. */
bool object_cache_get(const struct object_cache *k, const char *oid, int type, struct buf *out);
void object_cache_release(struct object_cache *k);

#endif
