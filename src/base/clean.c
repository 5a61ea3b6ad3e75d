#include "base/clean.h"

#include <stdint.h>

#include "base/alloc.h"

#define COLOUR_MAX 32 /* bytes of a colour sequence before its end */

static bool continues(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/*
 * Characters that are invisible, or change how others are drawn, so that text looks different from what it
 * is: Unicode's format characters (Cf), its line and paragraph separators (Zl, Zp), everything that is
 * default-ignorable (fillers, variation selectors, tags, and code points reserved for more of them), and blanks
 * that are in none of these groups: what looks like a space and is none joins two words. Sorted.
 */
/* clang-format off */
static const struct {
	uint32_t first, last;
} invisible[] = {
	{ 0xa0, 0xa0 },       /* no-break space */
	{ 0xad, 0xad },       /* soft hyphen */
	{ 0x34f, 0x34f },     /* combining grapheme joiner */
	{ 0x600, 0x605 },     /* Arabic number signs */
	{ 0x61c, 0x61c },     /* Arabic letter mark */
	{ 0x6dd, 0x6dd },     /* Arabic end of ayah */
	{ 0x70f, 0x70f },     /* Syriac abbreviation mark */
	{ 0x890, 0x891 },     /* Arabic marks above */
	{ 0x8e2, 0x8e2 },     /* Arabic disputed end of ayah */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x1680, 0x1680 },   /* Ogham space mark */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180b, 0x180f },   /* Mongolian variation selectors, vowel separator */
	{ 0x2000, 0x200a },   /* spaces of other widths, which separate no words */
	{ 0x200b, 0x200f },   /* zero width space and joiners, direction marks */
	{ 0x2028, 0x202e },   /* line and paragraph separator, embeddings and overrides of direction */
	{ 0x202f, 0x202f },   /* narrow no-break space */
	{ 0x205f, 0x206f },   /* mathematical space, word joiner, invisible operators, isolates of direction */
	{ 0x2800, 0x2800 },   /* blank Braille pattern */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* zero width no-break space, byte order mark */
	{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb },   /* reserved, interlinear annotations */
	{ 0x110bd, 0x110bd }, /* Kaithi number sign */
	{ 0x110cd, 0x110cd }, /* Kaithi number sign above */
	{ 0x13430, 0x1343f }, /* Egyptian hieroglyph format controls */
	{ 0x16fe4, 0x16fe4 }, /* Khitan filler */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d159, 0x1d159 }, /* null notehead */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe0fff }, /* tags, variation selectors, reserved */
};
/* clang-format on */

static bool is_invisible(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(invisible) && invisible[i].first <= c; i++)
		if (c <= invisible[i].last)
			return true;
	return false;
}

/* Decodes the UTF-8 sequence at p and returns its length; 0 if it is not valid. */
static size_t decode(const unsigned char *p, size_t len, uint32_t *ret)
{
	if (p[0] < 0x80)
		return *ret = p[0], 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf && len >= 2 && continues(p + 1, 1))
		return *ret = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu), 2;
	if (p[0] >= 0xe0 && p[0] <= 0xef && len >= 3 && continues(p + 1, 2)) {
		*ret = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		/* an overlong form, or half of a surrogate pair */
		return *ret < 0x800 || (*ret >= 0xd800 && *ret < 0xe000) ? 0 : 3;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4 && len >= 4 && continues(p + 1, 3)) {
		*ret = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
		return *ret < 0x10000 || *ret > 0x10ffff ? 0 : 4;
	}
	return 0;
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

struct number {
	unsigned value;
	bool joined; /* to the one before, by a colon */
};

static size_t take_numbers(const unsigned char *p, size_t n, struct number v[COLOUR_MAX])
{
	size_t count = 1;

	v[0] = (struct number){ 0 };
	for (size_t i = 2; i + 1 < n; i++) {
		struct number *last = &v[count - 1];

		if (p[i] >= '0' && p[i] <= '9')
			last->value = last->value < 1000 ? last->value * 10 + (unsigned)(p[i] - '0') : 1000;
		else
			v[count++] = (struct number){ .joined = p[i] == ':' };
	}
	return count;
}

/* How many numbers the colour at v has: "38;5;N", "38;2;R;G;B", both with colons, and "38:2::R:G:B". 0 if it has
 * another form: terminals do not agree on where that ends. */
static size_t colour_length(const struct number *v, size_t n)
{
	bool joined = n > 1 && v[1].joined;
	size_t len = n < 3 ? 0 : v[1].value == 5 ? 3 : v[1].value == 2 ? 5 : 0;

	/* to a terminal that takes a colon for a semicolon, the last number is not part of the colour */
	if (joined && len == 5 && n > 5 && v[5].joined && v[5].value != 8)
		len = 6;
	if (n < len || (n > len && v[len].joined))
		return 0;
	for (size_t i = 1; i < len; i++)
		if (v[i].joined != joined)
			return 0;
	return len;
}

/* Whether the sequence may be one that hides the text after it (SGR 8), on some terminal. */
static bool conceals(const unsigned char *p, size_t size)
{
	struct number v[COLOUR_MAX];
	size_t n = take_numbers(p, size, v), len;

	for (size_t i = 0; i < n; i += len) {
		bool underline = i && v[i - 1].value == 4 && !v[i - 1].joined && v[i].value <= 5;
		bool colour = v[i].value == 38 || v[i].value == 48 || v[i].value == 58;

		len = colour ? colour_length(v + i, n - i) : 1;
		if (!len || (v[i].joined && !underline) || v[i].value == 8 || v[i].value > 107)
			return true;
	}
	return false;
}

/* Where the numbers of the sequence end. */
static size_t colour_numbers(const unsigned char *p, size_t len)
{
	size_t i = 2;

	while (i < len && i < COLOUR_MAX && ((p[i] >= '0' && p[i] <= '9') || p[i] == ';' || p[i] == ':'))
		i++;
	return i;
}

static size_t colour_sequence(const unsigned char *p, size_t len)
{
	size_t i;

	if (len < 3 || p[0] != 0x1b || p[1] != '[')
		return 0;
	i = colour_numbers(p, len);
	return i < len && p[i] == 'm' && !conceals(p, i + 1) ? i + 1 : 0;
}

/* Appends a visible form of the character at p, which has n bytes; n is 0 if it is not UTF-8. Returns how
 * many bytes of the text it replaces. */
static size_t show(struct buf *out, const unsigned char *p, size_t len, size_t n, uint32_t c)
{
	if (*p == '\r' && len > 1 && p[1] == '\n')
		return 1; /* CR LF is an ordinary line end */
	if (*p < 0x20 || *p == 0x7f)
		buf_printf(out, "^%c", *p ^ 0x40);
	else if (n && !is_control(c))
		return buf_printf(out, "<U+%04X>", c), n;
	else
		buf_printf(out, "\\x%02x", *p);
	return 1;
}

void clean_text(struct buf *out, const char *text, size_t len, bool colours)
{
	const unsigned char *p = (const unsigned char *)text;

	while (len) {
		uint32_t c = 0;
		size_t n = decode(p, len, &c), colour = colours ? colour_sequence(p, len) : 0;

		if (colour)
			buf_add(out, p, n = colour);
		else if (n && (c == '\n' || c == '\t' || (!is_control(c) && !is_invisible(c))))
			buf_add(out, p, n);
		else
			n = show(out, p, len, n, c);
		p += n;
		len -= n;
	}
}

/* Whether the bytes begin a UTF-8 sequence that needs more than there are. */
static bool is_begun(const unsigned char *p, size_t len)
{
	size_t needs = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	return p[0] >= 0xc2 && p[0] <= 0xf4 && len < needs && continues(p + 1, len - 1);
}

size_t clean_whole(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t n = 1; n < COLOUR_MAX && n <= len; n++) {
		const unsigned char *q = p + len - n;

		if (is_begun(q, n) || (n == 1 && *q == '\r') || (n == 1 && *q == 0x1b))
			return len - n;
		if (n > 1 && q[0] == 0x1b)
			return q[1] == '[' && colour_numbers(q, n) == n ? len - n : len;
	}
	return len;
}

void clean_without_colours(struct buf *out, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0, colour; i < len; i += colour ? colour : 1) {
		colour = colour_sequence(p + i, len - i);
		if (!colour)
			buf_addch(out, text[i]);
	}
}

void clean_line(struct buf *out, const char *text)
{
	size_t at = out->len;

	clean_text(out, text, strlen(text), false);
	for (char *p = out->len > at ? out->data + at : NULL; p && (p = strchr(p, '\n'));)
		*p = ' ';
}
