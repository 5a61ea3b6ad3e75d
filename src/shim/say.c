#include <unistd.h>

#include "base/clean.h"
#include "shim/shim.h"
#include "sys/fd.h"

#define LINE_MAX_BYTES 1000

/* One line of what may be anything: other lines would pass for lines of ours. */
static void add_line(struct buf *out, const char *text, size_t len)
{
	auto_buf line = BUF_SMALL;
	bool cut = len > LINE_MAX_BYTES;

	if (cut)
		len = LINE_MAX_BYTES;
	while (cut && len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	for (size_t i = 0; i < len; i++)
		buf_addch(&line, text[i] == '\n' || text[i] == '\t' ? ' ' : text[i]);
	clean_text(out, buf_str(&line), line.len, false);
	if (cut)
		buf_addstr(out, "...");
	buf_addch(out, '\n');
}

static void print_lines(const struct buf *message, const struct buf *tried, const struct buf *instead)
{
	auto_buf out = BUF_SMALL;

	buf_addstr(&out, "BLOCKED: ");
	add_line(&out, buf_str(message), message->len);
	if (tried->len) {
		buf_addstr(&out, "You tried to: ");
		add_line(&out, buf_str(tried), tried->len);
	}
	if (instead->len) {
		buf_addstr(&out, "Instead, you should: ");
		add_line(&out, buf_str(instead), instead->len);
	}
	/* all at once, so that other programs' lines do not get in between */
	write_full(STDERR_FILENO, buf_str(&out), out.len);
}

void print_refusal(const char *message, const char *tried, const char *instead)
{
	auto_buf m = BUF_SMALL, t = BUF_SMALL, i = BUF_SMALL;

	buf_addstr(&m, message);
	buf_addstr(&t, tried);
	buf_addstr(&i, instead);
	print_lines(&m, &t, &i);
}

void print_blocked(const struct http_answer *a, const char *tried)
{
	auto_buf m = BUF_SMALL, t = BUF_SMALL, i = BUF_SMALL;

	if (!answer_error(a, "message", &m) || !m.len)
		buf_printf(&m, "the gateway refused it and gave no reason (status %d)", a->status);
	if (!answer_error(a, "tried", &t) || !t.len) {
		buf_reset(&t);
		buf_addstr(&t, tried);
	}
	answer_error(a, "instead", &i);
	print_lines(&m, &t, &i);
}

void say_draft(void)
{
	fputs("garth: the gateway does not answer; this stays a draft until the task ends\n", stderr);
}

void say_command(struct buf *out, int argc, char *const *argv)
{
	buf_addstr(out, "git");
	for (int i = 1; i < argc && out->len < 2 * LINE_MAX_BYTES; i++) {
		size_t n = strnlen(argv[i], 2 * LINE_MAX_BYTES);

		buf_addch(out, ' ');
		buf_add(out, argv[i], n);
	}
}
