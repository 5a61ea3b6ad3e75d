#include "acp/lines.h"

#include <string.h>

/* Frees a buffer that has held a long line. */
#define KEPT (256u << 10)

void lines_release(struct line_splitter *l)
{
	buf_release(&l->buf);
}

static void give(struct line_splitter *l, lines_fn *fn, void *arg)
{
	size_t len = l->buf.len;

	while (len && strchr(" \t\r", l->buf.data[len - 1]))
		len--;
	if (l->skip) {
		fn(NULL, 0, arg);
	} else if (len) {
		l->buf.data[len] = '\0';
		fn(l->buf.data, len, arg);
	}
	l->skip = false;
	if (l->buf.cap > KEPT)
		buf_release(&l->buf);
	buf_cut(&l->buf, 0);
	l->buf.overflow = false;
}

void lines_feed(struct line_splitter *l, const char *data, size_t len, lines_fn *fn, void *arg)
{
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		if (!l->skip && !buf_add(&l->buf, data, n)) {
			l->skip = true;
			buf_release(&l->buf);
		}
		if (end)
			give(l, fn, arg);
		data += n + (end != NULL);
		len -= n + (end != NULL);
	}
}
