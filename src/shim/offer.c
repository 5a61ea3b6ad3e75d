#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "shim/shim.h"
#include "sys/digest.h"
#include "sys/fd.h"

/* Larger packs are left to git pack-objects. */
#define OBJECT_MAX  (512u << 10)
#define PACK_MAX    (512u << 10)
#define COMMITS_MAX 8
#define OBJECTS_MAX 80
#define DEPTH_MAX   40

enum kind { COMMIT = 1, TREE, BLOB };

struct offer {
	int objects;
	size_t hash_len;
	struct strvec seen; /* objects in the pack, and commits that the gateway has */
	struct buf entries;
	uint32_t count;
	unsigned commits;
};

/* An entry of a tree, which points into the tree's bytes. */
struct entry {
	const char *mode, *name;
	const unsigned char *id;
};

/* Unpacks "KIND SIZE", a NUL and the content; ret gets the content. */
static bool inflate_object(const struct buf *file, enum kind kind, struct buf *ret)
{
	static const char *const words[] = { "", "commit ", "tree ", "blob " };
	static unsigned char out[OBJECT_MAX];
	z_stream z = { .next_in = (unsigned char *)file->data,
		.avail_in = (unsigned)file->len,
		.next_out = out,
		.avail_out = sizeof(out) };
	size_t n = strlen(words[kind]), head;
	int rc;

	if (inflateInit(&z) != Z_OK)
		return false;
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	head = strnlen((const char *)out, z.total_out < 32 ? z.total_out : 32) + 1;
	if (rc != Z_STREAM_END || head > z.total_out || strncmp((const char *)out, words[kind], n) != 0)
		return false;
	return buf_add(ret, (const char *)out + head, z.total_out - head);
}

/* 1: it is a loose object of the task, of that kind. 0: it is not there. -1: it cannot be read. */
static int load(const struct offer *o, const char *hex, enum kind kind, struct buf *ret)
{
	char path[80];
	auto_fd fd = -1;
	auto_buf file = BUF_INIT(OBJECT_MAX);
	struct err ignored = ERR_INIT;
	struct stat st;

	snprintf(path, sizeof(path), "%.2s/%s", hex, hex + 2);
	fd = openat(o->objects, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < OBJECT_MAX &&
			       !read_rest(fd, &file, "object", &ignored) && inflate_object(&file, kind, ret)
		       ? 1
		       : -1;
}

/* Writes a zlib stream of stored blocks, because compressing takes longer than copying. */
static void store(struct buf *out, const struct buf *content)
{
	uLong sum = adler32(adler32(0, NULL, 0), (const unsigned char *)buf_str(content), (uInt)content->len);
	size_t at = 0;

	buf_add(out, "\x78\x01", 2);
	do {
		size_t n = content->len - at < 0xffff ? content->len - at : 0xffff;
		char head[5] = { at + n == content->len, (char)(n & 0xff), (char)(n >> 8), (char)(~n & 0xff),
			(char)(~n >> 8) };

		buf_add(out, head, sizeof(head));
		buf_add(out, buf_str(content) + at, n);
		at += n;
	} while (at < content->len);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_addch(out, (char)(sum >> shift));
}

/* Adds an object to the pack: kind and size (four bits in the first byte, seven in each following one), then
 * the content. */
static bool add(struct offer *o, enum kind kind, const struct buf *content)
{
	size_t size = content->len >> 4;
	unsigned char byte = (unsigned char)(kind << 4 | (content->len & 15));

	for (; size; size >>= 7) {
		buf_addch(&o->entries, (char)(byte | 0x80));
		byte = size & 0x7f;
	}
	buf_addch(&o->entries, (char)byte);
	store(&o->entries, content);
	return !o->entries.overflow && ++o->count <= OBJECTS_MAX;
}

/* Reads the entry at *at and moves on; false at the end, or if it is malformed. */
static bool next_entry(const struct offer *o, const struct buf *tree, size_t *at, struct entry *ret)
{
	const char *mode = tree->data + *at, *end = tree->data + tree->len;
	const char *space = *at < tree->len ? memchr(mode, ' ', tree->len - *at) : NULL;
	const char *nul = space ? memchr(space, 0, (size_t)(end - space)) : NULL;

	if (!nul || (size_t)(end - nul) < o->hash_len + 1)
		return false;
	*ret = (struct entry){ mode, space + 1, (const unsigned char *)nul + 1 };
	*at = (size_t)(nul + 1 - tree->data) + o->hash_len;
	return true;
}

/* Finds the entry with that name. Trees are sorted, so the search starts where the last one ended. */
static bool find_entry(
	const struct offer *o, const struct buf *tree, size_t *hint, const char *name, struct entry *ret)
{
	for (size_t pass = 0, at = *hint; pass < 2; pass++, at = 0)
		while (next_entry(o, tree, &at, ret))
			if (!strcmp(ret->name, name)) {
				*hint = at;
				return true;
			}
	return false;
}

static bool is_seen(struct offer *o, const char *hex)
{
	if (strvec_has(&o->seen, hex))
		return true;
	strvec_push(&o->seen, hex);
	return false;
}

static bool offer_tree(struct offer *o, const char *hex, const char *before, int depth);

static bool offer_entry(struct offer *o, const struct entry *e, const struct entry *before, int depth)
{
	char hex[OID_SIZE], old[OID_SIZE] = "";
	auto_buf content = BUF_INIT(OBJECT_MAX);
	int rc;

	if (before && !memcmp(before->id, e->id, o->hash_len))
		return true;
	oid_to_hex(e->id, (unsigned)o->hash_len, hex);
	if (before)
		oid_to_hex(before->id, (unsigned)o->hash_len, old);
	if (!strncmp(e->mode, "40000 ", 6))
		return offer_tree(o, hex, old, depth + 1);
	if (!strncmp(e->mode, "160000 ", 7))
		return true;
	rc = load(o, hex, BLOB, &content);
	return rc > 0 && !is_seen(o, hex) ? add(o, BLOB, &content) : rc >= 0;
}

/* Adds what a tree has and the older one does not. Other objects than the task's own are assumed to be known to the
 * gateway, which checks that. */
static bool offer_tree(struct offer *o, const char *hex, const char *before, int depth)
{
	auto_buf tree = BUF_INIT(OBJECT_MAX), old = BUF_INIT(OBJECT_MAX);
	size_t at = 0, hint = 0;
	struct entry e, was;
	int rc = load(o, hex, TREE, &tree);

	if (depth > DEPTH_MAX || rc < 0)
		return false;
	if (!rc || is_seen(o, hex))
		return true;
	if (*before)
		load(o, before, TREE, &old);
	if (!add(o, TREE, &tree))
		return false;
	while (next_entry(o, &tree, &at, &e))
		if (!offer_entry(o, &e, find_entry(o, &old, &hint, e.name, &was) ? &was : NULL, depth))
			return false;
	return true;
}

/* The id after "KEY " at the start of a line of a commit's header; "" if there is none. */
static const char *head_line(const struct offer *o, const char *at, const char *key, char hex[OID_SIZE])
{
	size_t n = strlen(key), len = 2 * o->hash_len;

	hex[0] = '\0';
	if (strncmp(at, key, n) != 0 || !oid_take(at + n, (unsigned)o->hash_len, hex))
		return at;
	if (at[n + len] == '\n')
		return at + n + len + 1;
	hex[0] = '\0';
	return at;
}

static void tree_of(const struct offer *o, const char *commit, char hex[OID_SIZE])
{
	auto_buf text = BUF_INIT(OBJECT_MAX);

	hex[0] = '\0';
	if (load(o, commit, COMMIT, &text) > 0)
		head_line(o, buf_str(&text), "tree ", hex);
}

static bool offer_commit(struct offer *o, const char *hex)
{
	auto_buf text = BUF_INIT(OBJECT_MAX);
	char tree[OID_SIZE], parent[OID_SIZE], before[OID_SIZE] = "";
	const char *at;
	int rc;

	if (is_seen(o, hex))
		return true;
	rc = load(o, hex, COMMIT, &text);
	if (rc <= 0)
		return !rc;
	if (++o->commits > COMMITS_MAX || !add(o, COMMIT, &text))
		return false;
	at = head_line(o, buf_str(&text), "tree ", tree);
	for (const char *p = head_line(o, at, "parent ", parent); *parent;
		p = head_line(o, p, "parent ", parent)) {
		if (p == at + 2 * o->hash_len + 8)
			tree_of(o, parent, before);
		if (!offer_commit(o, parent))
			return false;
	}
	return offer_tree(o, tree, before, 0);
}

/* The parents of the branch's old value are published, like the old value itself: --amend uses them again. */
static void know(struct offer *o, const char *commit)
{
	auto_buf text = BUF_INIT(OBJECT_MAX);
	char hex[OID_SIZE];
	const char *at;

	is_seen(o, commit);
	if (load(o, commit, COMMIT, &text) <= 0)
		return;
	at = head_line(o, buf_str(&text), "tree ", hex);
	for (at = head_line(o, at, "parent ", hex); *hex; at = head_line(o, at, "parent ", hex))
		is_seen(o, hex);
}

static void put_base64(struct buf *out, const unsigned char *in, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned v = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
			     (left > 2 ? in[i + 2] : 0);

		buf_addch(out, digits[v >> 18]);
		buf_addch(out, digits[v >> 12 & 63]);
		buf_addch(out, left > 1 ? digits[v >> 6 & 63] : '=');
		buf_addch(out, left > 2 ? digits[v & 63] : '=');
	}
}

static void put_pack(const struct offer *o, struct buf *ret)
{
	auto_buf pack = BUF_INIT(PACK_MAX + 64);
	unsigned char count[4] = { (unsigned char)(o->count >> 24), (unsigned char)(o->count >> 16),
		(unsigned char)(o->count >> 8), (unsigned char)o->count };
	unsigned char sum[DIGEST_MAX];

	buf_add(&pack, "PACK\0\0\0\2", 8);
	buf_add(&pack, (const char *)count, sizeof(count));
	buf_add(&pack, buf_str(&o->entries), o->entries.len);
	digest_of(o->hash_len, pack.data, pack.len, sum);
	buf_add(&pack, (const char *)sum, o->hash_len);
	put_base64(ret, (const unsigned char *)pack.data, pack.len);
}

bool offer_pack(int repository, const char *from, const char *to, struct buf *ret)
{
	auto_fd objects = openat(repository, "objects", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct offer o = { .objects = objects, .hash_len = strlen(to) / 2, .entries = BUF_INIT(PACK_MAX) };
	bool whole;

	if (objects < 0 || (o.hash_len != DIGEST_SHA1_LEN && o.hash_len != DIGEST_SHA256_LEN))
		return false;
	know(&o, from);
	whole = offer_commit(&o, to) && o.count && !o.entries.overflow;
	if (whole)
		put_pack(&o, ret);
	strvec_release(&o.seen);
	buf_release(&o.entries);
	return whole && !ret->overflow;
}
