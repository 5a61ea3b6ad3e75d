/* Indexes as git writes them, made by hand: begin, add entries in order, add extensions, end. */
#ifndef TESTS_MAKE_INDEX_H
#define TESTS_MAKE_INDEX_H

#include "base/buf.h"

struct maker {
	struct buf b;
	unsigned version, hash_len, n;
	char last[5000];
};

static inline void maker_be(struct maker *m, unsigned bytes, unsigned value)
{
	while (bytes--)
		buf_addch(&m->b, (char)(value >> 8 * bytes));
}

static inline void maker_begin(struct maker *m, unsigned version, unsigned hash_len)
{
	*m = (struct maker){ .b = BUF_INIT(1 << 20), .version = version, .hash_len = hash_len };
	buf_addstr(&m->b, "DIRC");
	maker_be(m, 4, version);
	maker_be(m, 4, 0);
}

static inline void maker_name(struct maker *m, size_t start, const char *path)
{
	size_t common = 0;

	if (m->version < 4) {
		buf_addstr(&m->b, path);
		do
			buf_addch(&m->b, '\0');
		while ((m->b.len - start) % 8);
		return;
	}
	while (path[common] && path[common] == m->last[common])
		common++;
	/* one digit is enough for the names here */
	maker_be(m, 1, (unsigned)(strlen(m->last) - common));
	buf_add(&m->b, path + common, strlen(path + common) + 1);
	snprintf(m->last, sizeof(m->last), "%s", path);
}

/* Stat data is 1, 2, 3 …; the object id is `id` all over. ext: the extended flags, or 0. */
static inline void maker_add(
	struct maker *m, const char *path, unsigned mode, char id, unsigned stage, unsigned ext)
{
	size_t start = m->b.len, len = strlen(path);

	for (unsigned i = 1; i <= 10; i++)
		maker_be(m, 4, i == 7 ? mode : i);
	for (unsigned i = 0; i < m->hash_len; i++)
		buf_addch(&m->b, id);
	maker_be(m, 2, (unsigned)(len < 0xfff ? len : 0xfff) | stage << 12 | (ext ? 0x4000u : 0));
	if (ext)
		maker_be(m, 2, ext);
	maker_name(m, start, path);
	m->n++;
}

static inline void maker_extension(struct maker *m, const char sig[4], const void *data, size_t len)
{
	buf_add(&m->b, sig, 4);
	maker_be(m, 4, (unsigned)len);
	buf_add(&m->b, data, len);
}

/* The hash is not one. */
static inline void maker_end(struct maker *m)
{
	for (unsigned i = 0; i < m->hash_len; i++)
		buf_addch(&m->b, (char)(0xa0 + i));
	m->b.data[10] = (char)(m->n >> 8);
	m->b.data[11] = (char)m->n;
}

#endif
