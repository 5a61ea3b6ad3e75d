#include "shim/shim.h"

#define DEPTH 32

struct cursor {
	const char *p, *end;
};

static char peek(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
	return c->p < c->end ? *c->p : '\0';
}

static bool eat(struct cursor *c, char want)
{
	if (peek(c) != want || c->p >= c->end)
		return false;
	c->p++;
	return true;
}

static bool hex4(struct cursor *c, unsigned *ret)
{
	*ret = 0;
	if (c->end - c->p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char ch = *c->p++;
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

/* Behind "\u". Half of a surrogate pair becomes U+FFFD. */
static bool unicode(struct cursor *c, struct buf *out)
{
	struct cursor ahead;
	unsigned u, low;

	if (!hex4(c, &u))
		return false;
	if (u >= 0xd800 && u < 0xdc00) {
		ahead = *c;
		if (ahead.end - ahead.p >= 6 && ahead.p[0] == '\\' && ahead.p[1] == 'u') {
			ahead.p += 2;
			if (hex4(&ahead, &low) && low >= 0xdc00 && low < 0xe000) {
				*c = ahead;
				u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
			}
		}
	}
	add_utf8(out, u >= 0xd800 && u < 0xe000 ? 0xfffd : u);
	return true;
}

static bool escape(struct cursor *c, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (c->p >= c->end)
		return false;
	if (*c->p == 'u') {
		c->p++;
		return unicode(c, out);
	}
	at = *c->p ? strchr(from, *c->p) : NULL;
	if (!at)
		return false;
	buf_addch(out, to[at - from]);
	c->p++;
	return true;
}

/* What does not fit into out is lost, and out says so; the cursor moves on all the same. */
static bool string(struct cursor *c, struct buf *out)
{
	if (!eat(c, '"'))
		return false;
	while (c->p < c->end) {
		char ch = *c->p++;

		if (ch == '"')
			return true;
		if (ch == '\\') {
			if (!escape(c, out))
				return false;
		} else if ((unsigned char)ch < 0x20) {
			return false;
		} else {
			buf_addch(out, ch);
		}
	}
	return false;
}

static bool skip(struct cursor *c, int depth);

static bool skip_members(struct cursor *c, bool object, int depth)
{
	char close = object ? '}' : ']';

	c->p++;
	if (eat(c, close))
		return true;
	do {
		auto_buf key = BUF_INIT(0);

		if (object && (!string(c, &key) || !eat(c, ':')))
			return false;
		if (!skip(c, depth + 1))
			return false;
	} while (eat(c, ','));
	return eat(c, close);
}

static bool skip(struct cursor *c, int depth)
{
	auto_buf nothing = BUF_INIT(0);
	char ch = peek(c);
	size_t n;

	if (depth > DEPTH)
		return false;
	if (ch == '{' || ch == '[')
		return skip_members(c, ch == '{', depth);
	if (ch == '"')
		return string(c, &nothing);
	/* numbers and names are not looked at closely: nobody asks for one */
	for (n = 0; c->p + n < c->end && c->p[n] && strchr("+-.0123456789aeflnrstuE", c->p[n]); n++)
		;
	c->p += n;
	return n > 0;
}

/* From an object to the value of one of its members. */
static bool member(struct cursor *c, const char *name)
{
	if (!eat(c, '{') || peek(c) == '}')
		return false;
	do {
		auto_buf key = BUF_INIT(64);

		if (!string(c, &key) || !eat(c, ':'))
			return false;
		if (!key.overflow && key.len == strlen(name) && !strcmp(buf_str(&key), name))
			return true;
		if (!skip(c, 0))
			return false;
	} while (eat(c, ','));
	return false;
}

static bool take(struct cursor *c, const char *name, struct buf *out)
{
	if (member(c, name) && string(c, out) && !out->overflow)
		return true;
	buf_reset(out);
	return false;
}

bool answer_member(const struct http_answer *a, const char *name, struct buf *out)
{
	struct cursor c = { buf_str(&a->body), buf_str(&a->body) + a->body.len };

	return take(&c, name, out);
}

bool answer_error(const struct http_answer *a, const char *name, struct buf *out)
{
	struct cursor c = { buf_str(&a->body), buf_str(&a->body) + a->body.len };

	return member(&c, "error") && take(&c, name, out);
}
