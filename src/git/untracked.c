#include "git/untracked.h"

#include <nettle/sha1.h>
#include <nettle/sha2.h>

#include "git/index.h"

struct hash {
	unsigned len;
	union {
		struct sha1_ctx sha1;
		struct sha256_ctx sha256;
	};
};

static void hash_init(struct hash *h, unsigned len)
{
	h->len = len;
	if (len == SHA1_DIGEST_SIZE)
		sha1_init(&h->sha1);
	else
		sha256_init(&h->sha256);
}

static void hash_add(struct hash *h, const void *data, size_t len)
{
	if (h->len == SHA1_DIGEST_SIZE)
		sha1_update(&h->sha1, len, data);
	else
		sha256_update(&h->sha256, len, data);
}

static void hash_end(struct hash *h, unsigned char *ret)
{
	if (h->len == SHA1_DIGEST_SIZE)
		sha1_digest(&h->sha1, h->len, ret);
	else
		sha256_digest(&h->sha256, h->len, ret);
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_be32(unsigned char *p, size_t n)
{
	p[0] = (unsigned char)(n >> 24);
	p[1] = (unsigned char)(n >> 16);
	p[2] = (unsigned char)(n >> 8);
	p[3] = (unsigned char)n;
}

void untracked_add_number(struct buf *out, size_t n)
{
	unsigned char digits[16];
	size_t at = sizeof(digits) - 1;

	digits[at] = n & 127;
	while (n >>= 7)
		digits[--at] = (unsigned char)(128 | (--n & 127));
	buf_add(out, digits + at, sizeof(digits) - at);
}

/* The length of "VARINT IDENT" at the start of the extension; 0 if it is malformed. */
static size_t ident_len(const unsigned char *p, size_t len)
{
	size_t at = 0, n;

	if (!len)
		return 0;
	n = p[0] & 127u;
	while (p[at++] & 128u) {
		if (at == len || n > UINT32_MAX)
			return 0;
		n = ((n + 1) << 7) | (p[at] & 127u);
	}
	return n <= len - at ? at + n : 0;
}

/*
 * The extension has a list of NUL-terminated locations, and git uses the cache if its own location is among
 * them. The new list has only the new one.
 */
static int put_untracked(
	const unsigned char *body, size_t len, const char *work_tree, struct buf *out, struct err *e)
{
	size_t head = out->len, old = ident_len(body, len);
	auto_buf ident = BUF_SMALL;

	if (!old)
		return err_set(e, ERR_FAILED, "git index: the untracked cache is malformed");
	buf_printf(&ident, "Location %s, system Linux", work_tree);
	buf_addch(&ident, '\0');
	if (ident.overflow)
		return err_set(e, ERR_FAILED, "the path of the working tree is too long");
	buf_add(out, "UNTR\0\0\0", 8);
	untracked_add_number(out, ident.len);
	buf_add(out, ident.data, ident.len);
	buf_add(out, body + old, len - old);
	if (!out->overflow)
		put_be32((unsigned char *)out->data + head + 4, out->len - head - 8);
	return 0;
}

static void hash_headers(struct hash *h, const unsigned char *p, const unsigned char *end)
{
	for (; p < end; p += 8 + be32(p + 4))
		hash_add(h, p, 8);
}

/* The extension "end of index entries" has a hash over the names and sizes of all extensions before it. */
static void put_end_of_entries(
	const unsigned char *body, size_t extensions, unsigned hash_len, struct buf *out)
{
	unsigned char head[8] = "EOIE", digest[32];
	struct hash h;

	if (out->overflow)
		return;
	hash_init(&h, hash_len);
	hash_headers(&h, (unsigned char *)out->data + extensions, (unsigned char *)out->data + out->len);
	hash_end(&h, digest);
	put_be32(head + 4, 4 + hash_len);
	buf_add(out, head, sizeof(head));
	buf_add(out, body, 4);
	buf_add(out, digest, hash_len);
}

/* Writes everything between the entries and the hash at the end. */
static int put_extensions(const struct index_reader *r, const char *work_tree, struct buf *out, struct err *e)
{
	size_t extensions = out->len, len;

	for (const unsigned char *p = r->at; p < r->end; p += 8 + len) {
		if (r->end - p < 8 || (len = be32(p + 4)) > (size_t)(r->end - p - 8))
			return err_set(e, ERR_FAILED, "git index: an extension is cut off");
		if (memcmp(p, "UNTR", 4) == 0) {
			if (put_untracked(p + 8, len, work_tree, out, e) < 0)
				return -1;
		} else if (memcmp(p, "EOIE", 4) == 0 && len == 4 + r->hash_len) {
			put_end_of_entries(p + 8, extensions, r->hash_len, out);
		} else {
			buf_add(out, p, 8 + len);
		}
	}
	return 0;
}

/* A hash of zeros means that the index was written with index.skipHash; it stays so. */
static void put_trailer(const struct index_reader *r, size_t start, struct buf *out)
{
	static const unsigned char zero[32];
	unsigned char digest[32] = { 0 };
	struct hash h;

	if (memcmp(r->end, zero, r->hash_len) != 0) {
		hash_init(&h, r->hash_len);
		hash_add(&h, buf_str(out) + start, out->len - start);
		hash_end(&h, digest);
	}
	buf_add(out, digest, r->hash_len);
}

static int retarget(struct index_reader *r, const char *work_tree, struct buf *out, struct err *e)
{
	struct index_entry ent;
	size_t start = out->len;
	int more;

	while ((more = index_next(r, &ent, e)) > 0)
		;
	if (more < 0)
		return -1;
	buf_add(out, r->data, (size_t)(r->at - r->data));
	if (put_extensions(r, work_tree, out, e) < 0)
		return -1;
	if (!out->overflow)
		put_trailer(r, start, out);
	return out->overflow ? err_set(e, ERR_FAILED, "the git index is too large") : 0;
}

int untracked_retarget(const void *data, size_t len, unsigned hash_len, const char *work_tree,
	struct buf *out, struct err *e)
{
	struct index_reader r;
	size_t start = out->len;
	int rc = index_open(&r, data, len, hash_len, e) < 0 ? -1 : retarget(&r, work_tree, out, e);

	index_close(&r);
	if (rc < 0)
		buf_cut(out, start);
	return rc;
}
