#include "base/clean.h"

static bool continues(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Length of the UTF-8 sequence of a printable character at p, or 0. C1 controls (U+0080..9F) and the
 * bidirectional overrides and characters without width, by which text reads other than it is, are not
 * printable. */
static size_t printable(const unsigned char *p, size_t len)
{
	if (p[0] >= 0x20 && p[0] < 0x7f)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf && len >= 2 && continues(p + 1, 1))
		return p[0] == 0xc2 && p[1] < 0xa0 ? 0 : 2;
	if (p[0] >= 0xe0 && p[0] <= 0xef && len >= 3 && continues(p + 1, 2)) {
		if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0))
			return 0; /* longer than need be, or half of a surrogate pair */
		if (p[0] == 0xe2 && p[1] == 0x80 &&
			((p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xaa && p[2] <= 0xae)))
			return 0; /* U+200B..F, U+202A..E */
		if (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf)
			return 0; /* U+2060..F */
		return p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf ? 0 : 3;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4 && len >= 4 && continues(p + 1, 3))
		return (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90) ? 0 : 4;
	return 0;
}

/* SGR 8 hides what follows. Behind 38 and 48 stand the numbers of a colour: "38;5;N", "38;2;R;G;B". */
static bool conceals(const unsigned char *p, size_t n)
{
	unsigned value = 0, skip = 0, before = 0;

	for (size_t i = 2; i < n; i++) {
		if (p[i] >= '0' && p[i] <= '9') {
			value = value < 1000 ? value * 10 + (unsigned)(p[i] - '0') : value;
			continue;
		}
		if (skip) {
			skip--;
			value = 0;
		} else if ((before == 38 || before == 48) && (value == 5 || value == 2)) {
			skip = value == 5 ? 1 : 3;
			value = 0;
		} else if (value == 8) {
			return true;
		}
		before = value;
		value = 0;
	}
	return false;
}

static size_t colour_sequence(const unsigned char *p, size_t len)
{
	size_t i = 2;

	if (len < 3 || p[0] != 0x1b || p[1] != '[')
		return 0;
	while (i < len && i < 32 && ((p[i] >= '0' && p[i] <= '9') || p[i] == ';' || p[i] == ':'))
		i++;
	return i < len && p[i] == 'm' && !conceals(p, i + 1) ? i + 1 : 0;
}

void clean_text(struct buf *out, const char *text, size_t len, bool colours)
{
	const unsigned char *p = (const unsigned char *)text;

	while (len) {
		size_t n = *p == '\n' || *p == '\t' ? 1 : printable(p, len);

		if (!n && colours)
			n = colour_sequence(p, len);
		if (n) {
			buf_add(out, p, n);
		} else {
			n = 1;
			if (*p == '\r' && len > 1 && p[1] == '\n')
				; /* the line end of another system says nothing */
			else if (*p < 0x20 || *p == 0x7f)
				buf_printf(out, "^%c", *p ^ 0x40);
			else
				buf_printf(out, "\\x%02x", *p);
		}
		p += n;
		len -= n;
	}
}
