#include "base/json_read.h"

#include <string.h>

#define DEPTH_MAX 64

struct jread_at jread_at(const char *text, size_t len)
{
	return (struct jread_at){ text, text + len };
}

char jread_peek(struct jread_at *at)
{
	while (at->p < at->end && (*at->p == ' ' || *at->p == '\t' || *at->p == '\n' || *at->p == '\r'))
		at->p++;
	return at->p < at->end ? *at->p : '\0';
}

static bool eat(struct jread_at *at, char want)
{
	if (jread_peek(at) != want || at->p >= at->end)
		return false;
	at->p++;
	return true;
}

static bool hex4(struct jread_at *at, unsigned *ret)
{
	*ret = 0;
	if (at->end - at->p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char ch = *at->p++;
		int digit = ch >= '0' && ch <= '9'                 ? ch - '0'
			    : (ch | 32) >= 'a' && (ch | 32) <= 'f' ? (ch | 32) - 'a' + 10
								   : -1;

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (unsigned)digit;
	}
	return true;
}

static void add_utf8(struct buf *out, unsigned u)
{
	if (u < 0x80) {
		buf_addch(out, (char)u);
	} else if (u < 0x800) {
		buf_addch(out, (char)(0xc0 | u >> 6));
		buf_addch(out, (char)(0x80 | (u & 0x3f)));
	} else if (u < 0x10000) {
		buf_addch(out, (char)(0xe0 | u >> 12));
		buf_addch(out, (char)(0x80 | (u >> 6 & 0x3f)));
		buf_addch(out, (char)(0x80 | (u & 0x3f)));
	} else {
		buf_addch(out, (char)(0xf0 | u >> 18));
		buf_addch(out, (char)(0x80 | (u >> 12 & 0x3f)));
		buf_addch(out, (char)(0x80 | (u >> 6 & 0x3f)));
		buf_addch(out, (char)(0x80 | (u & 0x3f)));
	}
}

/* The four digits after "\u". */
static bool unicode(struct jread_at *at, struct buf *out)
{
	struct jread_at ahead;
	unsigned u, low;

	if (!hex4(at, &u))
		return false;
	if (u >= 0xd800 && u < 0xdc00) {
		ahead = *at;
		if (ahead.end - ahead.p >= 6 && ahead.p[0] == '\\' && ahead.p[1] == 'u') {
			ahead.p += 2;
			if (hex4(&ahead, &low) && low >= 0xdc00 && low < 0xe000) {
				*at = ahead;
				u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
			}
		}
	}
	add_utf8(out, u >= 0xd800 && u < 0xe000 ? 0xfffd : u);
	return true;
}

static bool escape(struct jread_at *at, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (at->p >= at->end)
		return false;
	if (*at->p == 'u') {
		at->p++;
		return unicode(at, out);
	}
	found = *at->p ? strchr(from, *at->p) : NULL;
	if (!found)
		return false;
	buf_addch(out, to[found - from]);
	at->p++;
	return true;
}

/* Adds what fits. */
static void add_run(struct buf *out, const char *text, size_t len)
{
	size_t room = out->max - out->len;

	if (len > room)
		out->overflow = true;
	if (len && room)
		buf_add(out, text, len < room ? len : room);
}

/* If the string does not fit, the place still moves on. */
bool jread_string(struct jread_at *at, struct buf *out)
{
	if (!eat(at, '"'))
		return false;
	while (at->p < at->end) {
		const char *plain = at->p;

		while (at->p < at->end && *at->p != '"' && *at->p != '\\' && (unsigned char)*at->p >= 0x20)
			at->p++;
		add_run(out, plain, (size_t)(at->p - plain));
		if (at->p >= at->end || (unsigned char)*at->p < 0x20)
			return false;
		if (*at->p++ == '"')
			return true;
		if (!escape(at, out))
			return false;
	}
	return false;
}

static size_t digits(struct jread_at *at)
{
	const char *from = at->p;

	while (at->p < at->end && *at->p >= '0' && *at->p <= '9')
		at->p++;
	return (size_t)(at->p - from);
}

static bool number(struct jread_at *at)
{
	const char *first;

	at->p += *at->p == '-';
	first = at->p;
	if (!digits(at) || (*first == '0' && at->p > first + 1))
		return false;
	if (at->p < at->end && *at->p == '.') {
		at->p++;
		if (!digits(at))
			return false;
	}
	if (at->p < at->end && (*at->p | 32) == 'e') {
		at->p++;
		at->p += at->p < at->end && (*at->p == '+' || *at->p == '-');
		return digits(at) > 0;
	}
	return true;
}

static bool literal(struct jread_at *at)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(at->end - at->p) >= n && !memcmp(at->p, words[i], n)) {
			at->p += n;
			return true;
		}
	}
	return number(at);
}

/* What jread_each_string wants of each string; fn is NULL if nothing is wanted. */
struct wanted {
	size_t max;
	jread_text_fn *fn;
	void *arg;
};

static bool skip(struct jread_at *at, const struct wanted *w, int depth);

static bool skip_members(struct jread_at *at, bool object, const struct wanted *w, int depth)
{
	char close = object ? '}' : ']';

	at->p++;
	if (eat(at, close))
		return true;
	do {
		auto_buf key = BUF_INIT(0);

		if (object && (!jread_string(at, &key) || !eat(at, ':')))
			return false;
		if (!skip(at, w, depth + 1))
			return false;
	} while (eat(at, ','));
	return eat(at, close);
}

static bool skip(struct jread_at *at, const struct wanted *w, int depth)
{
	char ch = jread_peek(at);
	auto_buf text = BUF_INIT(w->fn ? w->max : 0);

	if (depth > DEPTH_MAX || at->p >= at->end)
		return false;
	if (ch == '{' || ch == '[')
		return skip_members(at, ch == '{', w, depth);
	if (ch != '"')
		return literal(at);
	if (!jread_string(at, &text))
		return false;
	if (w->fn)
		w->fn(buf_str(&text), text.len, w->arg);
	return true;
}

bool jread_skip(struct jread_at *at)
{
	const struct wanted nothing = { 0 };

	return skip(at, &nothing, 0);
}

bool jread_each_string(struct jread_at *at, size_t max, jread_text_fn *fn, void *arg)
{
	const struct wanted w = { max, fn, arg };

	return skip(at, &w, 0);
}

bool jread_is_whole(const char *text, size_t len)
{
	struct jread_at at = jread_at(text, len);

	return jread_skip(&at) && !jread_peek(&at) && at.p == at.end;
}

bool jread_member(struct jread_at *at, const char *name)
{
	struct jread_at found = { NULL, NULL };

	if (!eat(at, '{') || jread_peek(at) == '}')
		return false;
	do {
		auto_buf key = BUF_INIT(64);

		if (!jread_string(at, &key) || !eat(at, ':'))
			return false;
		if (!key.overflow && key.len == strlen(name) && !strcmp(buf_str(&key), name))
			found = *at;
		if (!jread_skip(at))
			return false;
	} while (eat(at, ','));
	if (!found.p || !eat(at, '}'))
		return false;
	*at = found;
	return true;
}

bool jread_array(struct jread_at *at)
{
	return eat(at, '[');
}

bool jread_next(struct jread_at *at)
{
	char ch = jread_peek(at);

	if (ch == ',')
		at->p++;
	return ch && ch != ']';
}

/* The length of the UTF-8 sequence at p, or 0. */
static size_t utf8(const unsigned char *p)
{
	size_t n = p[0] < 0x80                   ? 1
		   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		   : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
		   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

void jread_quote(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	buf_addch(out, '"');
	while (*p) {
		size_t n = utf8(p);

		if (!n)
			buf_addstr(out, "\\ufffd");
		else if (*p == '"' || *p == '\\')
			buf_printf(out, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			buf_printf(out, "\\u%04x", *p);
		else
			buf_add(out, p, n);
		p += n ? n : 1;
	}
	buf_addch(out, '"');
}
