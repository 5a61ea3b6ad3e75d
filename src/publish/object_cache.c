#include "publish/object_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The first digits of a hash are as good as any. */
static size_t place_of(const char *oid)
{
	char head[5] = "";

	snprintf(head, sizeof(head), "%.4s", oid);
	return strtoul(head, NULL, 16) % OBJECT_CACHE_PLACES;
}

void object_cache_add(struct object_cache *k, const char *oid, int type, const struct buf *content)
{
	size_t i = place_of(oid);

	if (content->len > OBJECT_CACHE_SIZE || strlen(oid) >= sizeof(k->places[i].oid))
		return;
	free(k->places[i].data);
	k->places[i].data = xcalloc(content->len + 1, 1);
	memcpy(k->places[i].data, buf_str(content), content->len);
	k->places[i].len = content->len;
	k->places[i].type = type;
	snprintf(k->places[i].oid, sizeof(k->places[i].oid), "%s", oid);
}

bool object_cache_get(const struct object_cache *k, const char *oid, int type, struct buf *out)
{
	size_t i = place_of(oid);

	if (!k->places[i].data || k->places[i].type != type || strcmp(k->places[i].oid, oid) != 0)
		return false;
	return buf_add(out, k->places[i].data, k->places[i].len);
}

void object_cache_release(struct object_cache *k)
{
	for (size_t i = 0; i < OBJECT_CACHE_PLACES; i++) {
		free(k->places[i].data);
		k->places[i].data = NULL;
		k->places[i].oid[0] = '\0';
	}
}
