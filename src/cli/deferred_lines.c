#include "cli/deferred_lines.h"

#include <stdio.h>
#include <string.h>

#include "cli/say.h"

#define ANNOUNCED_MAX 300 /* bytes of a notification */

void deferred_add(struct deferred_lines *h, const char *text)
{
	auto_buf line = BUF_SMALL;

	if (h->lines.n < HELD_MAX)
		strvec_push(&h->lines, say_one_line(&line, text));
}

void deferred_announce(struct deferred_lines *h, const struct modes *m, struct output_queue *terminal)
{
	while (h->announced < h->lines.n && modes_at_text(m)) {
		const char *line = h->lines.v[h->announced++];
		auto_buf text = BUF_SMALL;

		buf_printf(&text, "\x1b]9;garth: %.*s\x1b\\", ANNOUNCED_MAX, line);
		output_queue_add(terminal, buf_str(&text), text.len);
	}
}

void deferred_print(struct deferred_lines *h, bool raw)
{
	for (size_t i = 0; i < h->lines.n; i++) {
		if (raw)
			fputs("\r\n", stderr);
		say_warning("%s", h->lines.v[i]);
		if (raw)
			fputs("\r", stderr);
	}
	deferred_release(h);
}

void deferred_release(struct deferred_lines *h)
{
	strvec_release(&h->lines);
	*h = (struct deferred_lines){ .lines = STRVEC_INIT };
}
