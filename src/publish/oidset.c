#include "publish/oidset.h"

#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"

void oidset_release(struct oidset *s)
{
	free(s->v);
	free(s->used);
	free(s->marks);
	*s = (struct oidset){ .hash_len = s->hash_len };
}

/* Hashes all of the id: an agent can make ids with equal beginnings. */
static uint64_t hash(const struct oidset *s, const unsigned char *oid)
{
	uint64_t h = s->key;

	for (unsigned at = 0; at < s->hash_len; at += 4) {
		uint32_t part;

		memcpy(&part, oid + at, 4);
		h = (h ^ part) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

/* The index of the id, or of the free entry for it. The table is never full. */
static size_t place(const struct oidset *s, const unsigned char *oid)
{
	size_t i = hash(s, oid) & (s->cap - 1);

	while (s->used[i] && memcmp(s->v[i], oid, s->hash_len))
		i = (i + 1) & (s->cap - 1);
	return i;
}

static void grow(struct oidset *s)
{
	struct oidset old = *s;

	if (!old.cap && getrandom(&s->key, sizeof(s->key), 0) < 0)
		abort();
	s->cap = old.cap ? old.cap * 2 : 64;
	s->v = xcalloc(s->cap, sizeof(*s->v));
	s->used = xcalloc(s->cap, sizeof(*s->used));
	s->marks = xcalloc(s->cap, sizeof(*s->marks));
	for (size_t i = 0; i < old.cap; i++) {
		size_t to;

		if (!old.used[i])
			continue;
		to = place(s, old.v[i]);
		memcpy(s->v[to], old.v[i], 32);
		s->used[to] = true;
		s->marks[to] = old.marks[i];
	}
	free(old.v);
	free(old.used);
	free(old.marks);
}

bool oidset_add_raw(struct oidset *s, const unsigned char *oid)
{
	size_t i;

	if (s->n >= s->cap / 2)
		grow(s);
	i = place(s, oid);
	if (s->used[i])
		return false;
	memcpy(s->v[i], oid, s->hash_len);
	s->used[i] = true;
	s->n++;
	return true;
}

uint64_t *oidset_mark(const struct oidset *s, const unsigned char *oid)
{
	size_t i;

	if (!s->cap)
		return NULL;
	i = place(s, oid);
	return s->used[i] ? &s->marks[i] : NULL;
}

bool oidset_has_raw(const struct oidset *s, const unsigned char *oid)
{
	return oidset_mark(s, oid);
}

bool oidset_add(struct oidset *s, const char *hex)
{
	unsigned char oid[32];

	return oid_from_hex(hex, s->hash_len, oid) && oidset_add_raw(s, oid);
}

bool oidset_has(const struct oidset *s, const char *hex)
{
	unsigned char oid[32];

	return oid_from_hex(hex, s->hash_len, oid) && oidset_has_raw(s, oid);
}
