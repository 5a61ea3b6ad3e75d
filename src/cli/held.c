#include "cli/held.h"

#include <stdio.h>
#include <string.h>

#include "cli/say.h"

#define ANNOUNCED_MAX 300 /* bytes of a notification */

void held_add(struct held *h, const char *text)
{
	auto_buf line = BUF_SMALL;

	if (h->lines.n < HELD_MAX)
		strvec_push(&h->lines, say_one_line(&line, text));
}

void held_announce(struct held *h, const struct modes *m, struct outlet *terminal)
{
	while (h->announced < h->lines.n && modes_at_text(m)) {
		const char *line = h->lines.v[h->announced++];
		auto_buf text = BUF_SMALL;

		buf_printf(&text, "\x1b]9;garth: %.*s\x1b\\", ANNOUNCED_MAX, line);
		outlet_add(terminal, buf_str(&text), text.len);
	}
}

void held_print(struct held *h, bool raw)
{
	for (size_t i = 0; i < h->lines.n; i++) {
		if (raw)
			fputs("\r\n", stderr);
		say_warning("%s", h->lines.v[i]);
		if (raw)
			fputs("\r", stderr);
	}
	held_release(h);
}

void held_release(struct held *h)
{
	strvec_release(&h->lines);
	*h = (struct held){ .lines = STRVEC_INIT };
}
