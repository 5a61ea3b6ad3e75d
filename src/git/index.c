#include "git/index.h"

#define HEADER_LEN    12
#define STAT_LEN      40
#define NAME_MASK     0x0fffu
#define FLAG_EXTENDED 0x4000u
#define FLAG_VALID    0x8000u
#define EXT_INTENT    0x2000u
#define EXT_SKIP      0x4000u

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned be16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

int index_open(struct index_reader *r, const void *data, size_t len, unsigned hash_len, struct err *e)
{
	const unsigned char *p = data;

	*r = (struct index_reader){ .data = p, .hash_len = hash_len, .path = BUF_SMALL };
	if (hash_len != 20 && hash_len != 32)
		return err_set(e, ERR_FAILED, "no hash has %u bytes", hash_len);
	if (len < HEADER_LEN + hash_len || memcmp(p, "DIRC", 4) != 0)
		return err_set(e, ERR_FAILED, "not a git index");
	r->version = be32(p + 4);
	if (r->version < 2 || r->version > 4)
		return err_set(e, ERR_FAILED, "a git index of version %u is not known", r->version);
	r->entries = be32(p + 8);
	r->at = p + HEADER_LEN;
	r->end = p + len - hash_len;
	if (r->entries > (size_t)(r->end - r->at) / (STAT_LEN + hash_len))
		return err_set(e, ERR_FAILED, "git index: more entries than bytes");
	return 0;
}

void index_close(struct index_reader *r)
{
	buf_release(&r->path);
}

static int broken(const struct index_reader *r, struct err *e)
{
	return err_set(e, ERR_FAILED, "git index: entry %u of %u is broken", r->seen + 1, r->entries);
}

/* A number in git's variable-length encoding: base 128, most significant digit first, without redundant
 * forms. */
static const unsigned char *read_varint(const unsigned char *p, const unsigned char *end, size_t *ret)
{
	size_t n;

	if (p >= end)
		return NULL;
	n = *p & 127u;
	while (*p++ & 128u) {
		if (p >= end || n > SIZE_MAX >> 8)
			return NULL;
		n = ((n + 1) << 7) | (*p & 127u);
	}
	*ret = n;
	return p;
}

/* Versions 2 and 3: the name after an entry's fixed part, and the NULs that pad the entry to 8 bytes. */
static int read_plain_name(
	struct index_reader *r, const unsigned char *name, unsigned flags, struct index_entry *ret)
{
	size_t room = (size_t)(r->end - name), len = flags & NAME_MASK, whole;

	if (len == NAME_MASK) {
		const unsigned char *nul = memchr(name, '\0', room);

		if (!nul || (len = (size_t)(nul - name)) < NAME_MASK)
			return -1;
	} else if (len >= room || name[len] != '\0' || memchr(name, '\0', len)) {
		return -1;
	}
	whole = ((size_t)(name - r->at) + len + 8) & ~(size_t)7;
	if (whole > (size_t)(r->end - r->at))
		return -1;
	ret->path = (const char *)name;
	ret->path_len = len;
	r->at += whole;
	return 0;
}

/* Version 4: how many bytes to remove from the previous name, and what to append. */
static int read_packed_name(struct index_reader *r, const unsigned char *at, struct index_entry *ret)
{
	const unsigned char *nul;
	size_t strip;

	at = read_varint(at, r->end, &strip);
	if (!at || strip > r->path.len || !(nul = memchr(at, '\0', (size_t)(r->end - at))))
		return -1;
	buf_cut(&r->path, r->path.len - strip);
	if (!buf_add(&r->path, at, (size_t)(nul - at)))
		return -1;
	ret->path = buf_str(&r->path);
	ret->path_len = r->path.len;
	r->at = nul + 1;
	return 0;
}

static void read_stat(const unsigned char *p, struct index_entry *ret)
{
	ret->ctime_s = be32(p);
	ret->ctime_ns = be32(p + 4);
	ret->mtime_s = be32(p + 8);
	ret->mtime_ns = be32(p + 12);
	ret->dev = be32(p + 16);
	ret->ino = be32(p + 20);
	ret->mode = be32(p + 24);
	ret->uid = be32(p + 28);
	ret->gid = be32(p + 32);
	ret->size = be32(p + 36);
}

/*
 * Extensions must fill the rest up to the hash at the end. If an extension's name begins in lower case, it
 * changes the meaning of the entries (a split index, sparse directories), so the entries alone would be
 * wrong.
 */
static int check_extensions(const struct index_reader *r, struct err *e)
{
	const unsigned char *p = r->at;

	while (p < r->end) {
		if (r->end - p < 8 || be32(p + 4) > (size_t)(r->end - p - 8))
			return err_set(e, ERR_FAILED, "git index: an extension is cut off");
		if (p[0] < 'A' || p[0] > 'Z')
			return err_set(e, ERR_FAILED, "git index: an extension is not known");
		p += 8 + be32(p + 4);
	}
	return 0;
}

int index_next(struct index_reader *r, struct index_entry *ret, struct err *e)
{
	const unsigned char *p = r->at;
	size_t fixed = STAT_LEN + r->hash_len + 2;
	unsigned flags, more = 0;

	if (r->seen == r->entries)
		return check_extensions(r, e);
	if ((size_t)(r->end - p) < fixed + 2)
		return broken(r, e);
	read_stat(p, ret);
	ret->oid = p + STAT_LEN;
	flags = be16(p + fixed - 2);
	if (flags & FLAG_EXTENDED) {
		more = be16(p + fixed);
		fixed += 2;
		if (r->version < 3 || (more & ~(EXT_INTENT | EXT_SKIP)))
			return broken(r, e);
	}
	ret->stage = flags >> 12 & 3;
	ret->assume_valid = flags & FLAG_VALID;
	ret->skip_worktree = more & EXT_SKIP;
	ret->intent_to_add = more & EXT_INTENT;
	if ((r->version == 4 ? read_packed_name(r, p + fixed, ret)
			     : read_plain_name(r, p + fixed, flags, ret)) < 0 ||
		ret->path_len == 0)
		return broken(r, e);
	r->seen++;
	return 1;
}

const unsigned char *index_extension(const struct index_reader *r, const char sig[4], size_t *ret_len)
{
	const unsigned char *p = r->at;

	while (r->end - p >= 8 && be32(p + 4) <= (size_t)(r->end - p - 8)) {
		if (memcmp(p, sig, 4) == 0) {
			*ret_len = be32(p + 4);
			return p + 8;
		}
		p += 8 + be32(p + 4);
	}
	return NULL;
}
