#include "base/list_text.h"

#include "base/clean.h"
#include "base/size.h"

#define BEGIN "\n  "
#define MORE  "… and "

void list_lines(struct buf *out, const struct strvec *names, size_t skip, size_t max)
{
	char more[COUNT_TEXT_MAX];

	for (size_t i = 0; i < names->n && i < max; i++) {
		auto_buf name = BUF_SMALL;

		clean_line(&name, names->v[i] + skip);
		buf_printf(out, BEGIN "%s", buf_str(&name));
	}
	if (names->n > max)
		buf_printf(out, BEGIN MORE "%s more", count_text(names->n - max, more));
}

void list_on_one_line(struct buf *out, const char *text)
{
	const char *comma = ": ";

	for (const char *end; (end = strstr(text, BEGIN)); comma = ", ") {
		buf_add(out, text, (size_t)(end - text));
		text = end + strlen(BEGIN);
		if (strncmp(text, MORE, strlen(MORE)) != 0)
			buf_addstr(out, comma);
		else
			buf_addstr(out, " and "), text += strlen(MORE);
	}
	buf_addstr(out, text);
}
