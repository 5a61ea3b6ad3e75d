#include "base/buf.h"

#include <stdarg.h>

#include "base/alloc.h"

void buf_release(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (n > b->max || b->len > b->max - n) {
		b->overflow = true;
		return NULL;
	}
	if (!b->data || b->cap - b->len <= n) {
		size_t want = b->len + n + 1;

		b->cap = want > b->cap * 2 ? want : b->cap * 2;
		if (b->cap < 64)
			b->cap = 64;
		b->data = xrealloc(b->data, b->cap, 1);
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

bool buf_add(struct buf *b, const void *data, size_t len)
{
	char *at = buf_reserve(b, len);

	if (!at)
		return false;
	if (len)
		memcpy(at, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return true;
}

bool buf_addstr(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

bool buf_addch(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

bool buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *at;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !(at = buf_reserve(b, (size_t)n)))
		return false;
	va_start(ap, fmt);
	vsnprintf(at, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
	return true;
}

void buf_reset(struct buf *b)
{
	b->overflow = false;
	buf_cut(b, 0);
}

void buf_cut(struct buf *b, size_t len)
{
	if (len > b->len)
		return;
	b->len = len;
	if (b->data)
		b->data[len] = '\0';
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_steal(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	b->data = NULL;
	b->len = b->cap = 0;
	return s;
}
