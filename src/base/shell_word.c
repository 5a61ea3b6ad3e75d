#include "base/shell_word.h"

#include <string.h>

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/:@%+,=-"

static void add_quoted(struct buf *out, const char *text)
{
	buf_addch(out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			buf_addstr(out, "'\\''");
		else
			buf_addch(out, *text);
	buf_addch(out, '\'');
}

void shell_add_word(struct buf *out, const char *text)
{
	if (*text && !text[strspn(text, PLAIN)])
		buf_addstr(out, text);
	else
		add_quoted(out, text);
}

char *shell_word(const char *text)
{
	struct buf out = BUF_INIT(1 << 20);

	shell_add_word(&out, text);
	return buf_steal(&out);
}

char *shell_quoted(const char *text)
{
	struct buf out = BUF_INIT(1 << 20);

	add_quoted(&out, text);
	return buf_steal(&out);
}
