/*
 * A growing run of bytes with a limit. What does not fit is refused, and the buffer remembers that
 * (`overflow`), so that a whole series of additions can be checked once at its end.
 *
 *	auto_buf b = BUF_INIT(1 << 20);
 *	buf_printf(&b, "%s %s", name, value);
 *	if (b.overflow) …
 *
 * `data` is always followed by a NUL that `len` does not count, and is never NULL after the first addition;
 * buf_str() gives "" before it.
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
/* For paths, messages and other things that are short by nature. */
#define BUF_SMALL BUF_INIT(64 * 1024)

void buf_release(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_release))) struct buf

bool buf_add(struct buf *b, const void *data, size_t len);
bool buf_addstr(struct buf *b, const char *s);
bool buf_addch(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for n more bytes at data + len, which the caller fills and then counts in; NULL beyond the limit. */
char *buf_reserve(struct buf *b, size_t n);
void buf_reset(struct buf *b);
/* Cuts to len bytes. */
void buf_cut(struct buf *b, size_t len);
const char *buf_str(const struct buf *b);
/* Gives the string to the caller, who frees it; the buffer is empty afterwards. */
char *buf_steal(struct buf *b);

#endif
