#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "fast_unpack/fast_unpack.h"
#include "sys/digest.h"

#define HEADER_LEN 12

struct reader {
	const unsigned char *at, *end;
	size_t used; /* how much of the room is used */
};

/* Three bits of kind, then the size: four bits in the first byte, seven in each following one. */
static bool take_head(struct reader *r, unsigned *ret_kind, size_t *ret_size)
{
	unsigned shift = 4;
	unsigned char c;

	if (r->at == r->end)
		return false;
	c = *r->at++;
	*ret_kind = c >> 4 & 7;
	*ret_size = c & 15;
	while (c & 0x80) {
		if (r->at == r->end || shift > 25)
			return false;
		c = *r->at++;
		*ret_size |= (size_t)(c & 0x7f) << shift;
		shift += 7;
	}
	return true;
}

static bool take_content(struct reader *r, char *room, size_t size)
{
	z_stream z = { .next_in = (unsigned char *)r->at,
		.avail_in = (unsigned)(r->end - r->at),
		.next_out = (unsigned char *)room,
		.avail_out = (unsigned)size };
	unsigned char beyond;
	int rc;

	if (inflateInit(&z) != Z_OK)
		return false;
	rc = inflate(&z, Z_FINISH);
	/* an empty object, or one of which only the end of the stream is left to read */
	if (rc == Z_BUF_ERROR && !z.avail_out) {
		z.next_out = &beyond;
		z.avail_out = 1;
		rc = inflate(&z, Z_FINISH);
	}
	r->at = z.next_in;
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.total_out == size;
}

static bool is_plain(const struct plain_object *o, size_t hash_len)
{
	switch (o->kind) {
	case PLAIN_COMMIT:
		return plain_commit(o->data, o->len, hash_len);
	case PLAIN_TREE:
		return plain_tree(o->data, o->len, hash_len);
	default:
		return true;
	}
}

static bool take_object(struct reader *r, size_t hash_len, struct plain_pack *ret)
{
	struct plain_object *o = &ret->v[ret->n];
	unsigned kind;
	size_t size;

	if (!take_head(r, &kind, &size) || kind < PLAIN_COMMIT || kind > PLAIN_BLOB ||
		size > PLAIN_CONTENT_MAX - r->used)
		return false;
	*o = (struct plain_object){ (enum plain_kind)kind, ret->room + r->used, size };
	if (!take_content(r, ret->room + r->used, size) || !is_plain(o, hash_len))
		return false;
	r->used += size;
	ret->n++;
	return true;
}

static bool has_sum(const unsigned char *data, size_t len, size_t hash_len, const unsigned char *want)
{
	unsigned char sum[DIGEST_MAX];

	digest_of(hash_len, data, len, sum);
	return !memcmp(sum, want, hash_len);
}

bool plain_pack(const char *data, size_t len, size_t hash_len, struct plain_pack *ret)
{
	const unsigned char *bytes = (const unsigned char *)data;
	struct reader r;
	uint32_t count;

	ret->n = 0;
	if ((hash_len != DIGEST_SHA1_LEN && hash_len != DIGEST_SHA256_LEN) || len > PLAIN_PACK_MAX ||
		len < HEADER_LEN + hash_len || memcmp(data, "PACK\0\0\0\2", 8) != 0)
		return false;
	count = (uint32_t)bytes[8] << 24 | (uint32_t)bytes[9] << 16 | (uint32_t)bytes[10] << 8 | bytes[11];
	if (!count || count > PLAIN_OBJECTS_MAX)
		return false;
	r = (struct reader){ bytes + HEADER_LEN, bytes + len - hash_len, 0 };
	for (uint32_t i = 0; i < count; i++)
		if (!take_object(&r, hash_len, ret))
			return false;
	return r.at == r.end && has_sum(bytes, len - hash_len, hash_len, r.end);
}
