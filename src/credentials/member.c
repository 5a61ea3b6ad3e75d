#include "credentials/member.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"

#define DEPTH_MAX 64

struct scan {
	const char *p, *end;
};

static void skip_blanks(struct scan *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p)
		s->p++;
}

static bool take(struct scan *s, char c)
{
	skip_blanks(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool skip_string(struct scan *s)
{
	if (!take(s, '"'))
		return false;
	for (; s->p < s->end; s->p++) {
		if (*s->p == '"')
			return s->p++, true;
		if (*s->p == '\\')
			s->p++;
	}
	return false;
}

/* Skips a value. Brackets inside are only counted: other errors in it do not matter here. */
static bool skip_value(struct scan *s)
{
	unsigned depth = 0;

	do {
		skip_blanks(s);
		if (s->p == s->end)
			return false;
		if (*s->p == '"') {
			if (!skip_string(s))
				return false;
		} else if (strchr("{[", *s->p)) {
			if (++depth > DEPTH_MAX)
				return false;
			s->p++;
		} else if (strchr("}]", *s->p)) {
			if (!depth--)
				return false;
			s->p++;
		} else if (strchr(",:", *s->p)) {
			if (!depth)
				return false;
			s->p++;
		} else {
			while (s->p < s->end && (isalnum((unsigned char)*s->p) || strchr("+-.", *s->p)) &&
				*s->p)
				s->p++;
			if (s->p == s->end || (!strchr(" \t\r\n,:}]", *s->p)))
				return !depth && s->p == s->end;
		}
	} while (depth);
	return true;
}

/* Goes to the value of one member of the object that begins here. */
static bool enter(struct scan *s, const char *name, size_t name_len)
{
	if (!take(s, '{'))
		return false;
	do {
		const char *key;
		bool found;

		skip_blanks(s);
		key = s->p + 1;
		if (!skip_string(s))
			return false;
		found = (size_t)(s->p - 1 - key) == name_len && !memcmp(key, name, name_len);
		if (!take(s, ':'))
			return false;
		if (found)
			return skip_blanks(s), true;
		if (!skip_value(s))
			return false;
	} while (take(s, ','));
	return false;
}

bool member_find(const char *text, size_t len, const char *path, size_t *start, size_t *end)
{
	struct scan s = { text, text + len };

	for (;;) {
		size_t n = strcspn(path, ".");

		if (!enter(&s, path, n))
			return false;
		if (!path[n])
			break;
		path += n + 1;
	}
	*start = (size_t)(s.p - text);
	if (!skip_value(&s))
		return false;
	*end = (size_t)(s.p - text);
	return true;
}

char *member_string(const char *text, size_t len, const char *path)
{
	size_t start, end;

	if (!member_find(text, len, path, &start, &end) || text[start] != '"' ||
		memchr(text + start, '\\', end - start))
		return NULL;
	return xstrndup(text + start + 1, end - start - 2);
}

bool member_set(struct buf *text, const char *path, const char *value)
{
	auto_str quoted = xasprintf("\"%s\"", value);

	return member_set_raw(text, path, quoted);
}

bool member_set_raw(struct buf *text, const char *path, const char *json)
{
	auto_buf new = BUF_INIT(text->max);
	size_t start, end;

	if (!text->len || !member_find(text->data, text->len, path, &start, &end))
		return false;
	buf_add(&new, text->data, start);
	buf_addstr(&new, json);
	buf_add(&new, text->data + end, text->len - end);
	if (new.overflow)
		return false;
	buf_reset(text);
	buf_add(text, new.data, new.len);
	return true;
}
