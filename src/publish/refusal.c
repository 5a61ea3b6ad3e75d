#include "publish/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clean.h"

/* One line of clean text. If it is too long, it is cut between two characters. */
static void put_line(char *to, size_t size, const char *text)
{
	auto_buf clean = BUF_SMALL;
	size_t n;

	clean_text(&clean, text, strlen(text), false);
	n = clean.len < size ? clean.len : size - 1;
	while (n && n < clean.len && ((unsigned char)clean.data[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		to[i] = clean.data[i] == '\n' || clean.data[i] == '\t' ? ' ' : clean.data[i];
	to[n] = '\0';
}

int refuse(struct refusal *r, struct err *e, const char *code, const char *path, const char *fmt, ...)
{
	char msg[1024];
	va_list ap;

	*r = (struct refusal){ 0 };
	snprintf(r->code, sizeof(r->code), "%s", code);
	snprintf(r->path, sizeof(r->path), "%s", path ? path : "");
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	put_line(r->message, sizeof(r->message), msg);
	return err_set(e, ERR_REFUSED, "%s", r->message);
}

int refusal_say(struct refusal *r, const char *tried, const char *instead)
{
	put_line(r->tried, sizeof(r->tried), tried);
	put_line(r->instead, sizeof(r->instead), instead);
	return -1;
}
