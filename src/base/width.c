#include "base/width.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The locale is set by then; one with several bytes for a character is UTF-8 nowadays. */
static bool is_utf8(void)
{
	return MB_CUR_MAX > 1;
}

/* The next character: its columns, and its bytes in *len. */
static size_t next(const char *p, size_t *len)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t n;
	int columns;

	*len = 1;
	if ((unsigned char)*p < 0x80 || !is_utf8())
		return 1;
	n = mbrtowc(&c, p, strlen(p), &state);
	if (n == 0 || n > 4)
		return 1;
	*len = n;
	columns = wcwidth(c);
	/* a terminal shows something for a character that it does not know */
	return columns < 0 ? 1 : (size_t)columns;
}

size_t width_of(const char *text)
{
	size_t columns = 0, len;

	for (; *text; text += len)
		columns += next(text, &len);
	return columns;
}

size_t width_cut(struct buf *out, const char *text, size_t columns)
{
	size_t all = width_of(text), used = 0, len;

	if (all <= columns) {
		buf_addstr(out, text);
		return all;
	}
	if (!columns)
		return 0;
	for (; *text; text += len) {
		size_t n = next(text, &len);

		/* one column is for the mark */
		if (used + n > columns - 1)
			break;
		buf_add(out, text, len);
		used += n;
	}
	buf_addstr(out, is_utf8() ? "…" : "~");
	return used + 1;
}
