#include "mcp/message.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Counts what the parser would allocate for; strings are skipped. */
static const char *count(const char *text, size_t len)
{
	size_t values = 0, depth = 0;
	bool string = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (string) {
			i += c == '\\';
			string = c != '"';
			continue;
		}
		string = c == '"';
		values += c == ',' || c == '[' || c == '{';
		depth += c == '[' || c == '{';
		depth -= (c == ']' || c == '}') && depth;
		if (depth > MCP_DEPTH_MAX)
			return "it is nested too deeply";
		if (values > MCP_VALUES_MAX)
			return "it has too many values";
	}
	return NULL;
}

json_t *message_parse(const char *text, size_t len, char why[160])
{
	const char *bad = len > MCP_MESSAGE_MAX ? "it is too long" : count(text, len);
	json_error_t e;
	json_t *ret;

	if (bad) {
		snprintf(why, 160, "%s", bad);
		return NULL;
	}
	ret = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
	if (!ret)
		snprintf(why, 160, "%.120s", e.text);
	return ret;
}

/* How many bytes from here on need no escape. */
static size_t plain(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && (unsigned char)s[i] >= 0x20 && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

/* The library's own writer decodes each character, which takes longer than all the rest of an answer. */
static void write_string(struct buf *out, const char *s, size_t len)
{
	static const char named[] = "\b\t\n\f\r", names[] = "btnfr";

	buf_addch(out, '"');
	while (len) {
		size_t n = plain(s, len);
		const char *at;

		buf_add(out, s, n);
		s += n;
		len -= n;
		if (!len)
			break;
		if (*s == '"' || *s == '\\')
			buf_add(out, (char[]){ '\\', *s }, 2);
		else if (*s && (at = strchr(named, *s)))
			buf_add(out, (char[]){ '\\', names[at - named] }, 2);
		else
			buf_printf(out, "\\u%04x", (unsigned char)*s);
		s++;
		len--;
	}
	buf_addch(out, '"');
}

static void write_object(struct buf *out, const json_t *o)
{
	bool first = true;
	const char *key;
	json_t *v;

	buf_addch(out, '{');
	json_object_foreach((json_t *)o, key, v)
	{
		if (!first)
			buf_addch(out, ',');
		first = false;
		write_string(out, key, strlen(key));
		buf_addch(out, ':');
		message_write(out, v);
	}
	buf_addch(out, '}');
}

static void write_real(struct buf *out, const json_t *v)
{
	char text[64];
	size_t n = json_dumpb(v, text, sizeof(text), JSON_ENCODE_ANY);

	buf_add(out, text, n < sizeof(text) ? n : 0);
}

/* Everything that is written was made here, except for an id: it is not deep. */
void message_write(struct buf *out, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return write_object(out, v);
	case JSON_ARRAY:
		buf_addch(out, '[');
		for (size_t i = 0; i < json_array_size(v); i++) {
			if (i)
				buf_addch(out, ',');
			message_write(out, json_array_get(v, i));
		}
		buf_addch(out, ']');
		return;
	case JSON_STRING:
		return write_string(out, json_string_value(v), json_string_length(v));
	case JSON_INTEGER:
		buf_printf(out, "%lld", (long long)json_integer_value(v));
		return;
	case JSON_REAL:
		return write_real(out, v);
	default:
		buf_addstr(out, json_is_true(v) ? "true" : json_is_false(v) ? "false" : "null");
	}
}

/* The length of the sequence at p, of which n bytes are there; 0 if it is none. */
static size_t sequence(const unsigned char *p, size_t n)
{
	size_t want = p[0] < 0x80                   ? 1
		      : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		      : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
		      : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
						    : 0;

	if (want > n)
		return 0;
	for (size_t i = 1; i < want; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return want;
}

size_t utf8_valid(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i = 0;

	while (i < len) {
		uint64_t eight;
		size_t n;

		/* most text is ASCII */
		while (len - i >= sizeof(eight)) {
			memcpy(&eight, p + i, sizeof(eight));
			if (eight & 0x8080808080808080u)
				break;
			i += sizeof(eight);
		}
		if (i == len)
			break;
		n = sequence(p + i, len - i);
		if (!n)
			return i;
		i += n;
	}
	return len;
}

const char *message_text(const json_t *v)
{
	const char *s = json_string_value(v);

	return s && strlen(s) == json_string_length(v) ? s : NULL;
}
