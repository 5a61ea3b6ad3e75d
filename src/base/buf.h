/*
 * A growing byte buffer with a size limit. If an addition does not fit, it fails and sets `overflow`, so a
 * series of additions can be checked once at its end.
 *
 *	auto_buf b = BUF_INIT(1 << 20);
 *	buf_printf(&b, "%s %s", name, value);
 *	if (b.overflow) …
 *
 * `data` always ends in a NUL that `len` does not count. It is NULL before the first addition; buf_str() then
 * returns "".
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t len, cap, max;
	bool overflow;
};

#define BUF_INIT(limit)                                                                                      \
	{                                                                                                    \
		.max = (limit)                                                                               \
	}
/* For paths, messages and other short text. */
#define BUF_SMALL BUF_INIT(64 * 1024)

void buf_release(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_release))) struct buf

bool buf_add(struct buf *b, const void *data, size_t len);
bool buf_addstr(struct buf *b, const char *s);
bool buf_addch(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for n more bytes at data + len. The caller writes them and adds n to len. NULL beyond the limit.
 * */
char *buf_reserve(struct buf *b, size_t n);
void buf_reset(struct buf *b);
/* Shortens the buffer to len bytes. */
void buf_cut(struct buf *b, size_t len);
const char *buf_str(const struct buf *b);
/* Returns the string, which the caller frees. The buffer is empty afterwards. */
char *buf_steal(struct buf *b);

#endif
