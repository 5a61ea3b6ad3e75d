#include "agent/jsonc.h"

#include <string.h>

#include "base/buf.h"

/* The length of the comment at p; 0 if there is none. */
static size_t comment(const char *p, const char *end)
{
	const char *stop;

	if (end - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*'))
		return 0;
	if (p[1] == '/') {
		stop = memchr(p, '\n', (size_t)(end - p));
		return (size_t)((stop ? stop : end) - p);
	}
	stop = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
	return (size_t)((stop ? stop + 2 : end) - p);
}

static size_t string(const char *p, const char *end)
{
	const char *s = p + 1;

	while (s < end && *s != '"')
		s += *s == '\\' && end - s > 1 ? 2 : 1;
	return (size_t)((s < end ? s + 1 : end) - p);
}

/* Removes a trailing comma, and the blanks after it, from the output. */
static void drop_comma(struct buf *out)
{
	size_t n = out->len;

	while (n && strchr(" \t\r\n", out->data[n - 1]))
		n--;
	if (n && out->data[n - 1] == ',')
		out->data[n - 1] = ' ';
}

static void plain(const char *p, const char *end, struct buf *out)
{
	while (p < end) {
		size_t n = comment(p, end);

		if (n) {
			buf_addch(out, ' ');
			p += n;
			continue;
		}
		n = *p == '"' ? string(p, end) : 1;
		if (*p == '}' || *p == ']')
			drop_comma(out);
		buf_add(out, p, n);
		p += n;
	}
}

json_t *jsonc_parse(const char *text, size_t len)
{
	json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	auto_buf out = BUF_INIT(len + 1);

	if (all)
		return all;
	plain(text, text + len, &out);
	return out.overflow
		       ? NULL
		       : json_loadb(buf_str(&out), out.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
}
