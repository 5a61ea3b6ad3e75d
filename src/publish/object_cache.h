/*
 * The commits and trees that were read lately: one publish looks at the same ones several times, and at those
 * of the one before. What is in here was there when it was read; whoever throws objects away again forgets
 * all.
 */
#ifndef PUBLISH_OBJECT_CACHE_H
#define PUBLISH_OBJECT_CACHE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/oid.h"

/* Larger ones are not kept, and of two that fall into one place the younger. */
#define KNOWN_SIZE   (16u << 10)
#define KNOWN_PLACES 64

struct known {
	struct {
		char oid[OID_SIZE];
		int type; /* enum object_type */
		char *data;
		size_t len;
	} places[KNOWN_PLACES];
};

void known_add(struct known *k, const char *oid, int type, const struct buf *content);
/* Adds the content to out; false where it is not known with that type. */
bool known_get(const struct known *k, const char *oid, int type, struct buf *out);
void known_release(struct known *k);

#endif
