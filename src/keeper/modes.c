#include "keeper/modes.h"

#include <string.h>

#include "base/alloc.h"

/* The private modes that are tracked, and whether a fresh terminal has them on. The alternate screens come
 * last, so that they are left after the other modes are reset. */
static const struct {
	unsigned number;
	bool on;
} known[] = {
	{ 1, false },
	{ 7, true },
	{ 25, true },
	{ 66, false },
	{ 1000, false },
	{ 1002, false },
	{ 1003, false },
	{ 1004, false },
	{ 1005, false },
	{ 1006, false },
	{ 1015, false },
	{ 1016, false },
	{ 2004, false },
	{ 2026, false },
	{ 2031, false },
	{ 47, false },
	{ 1047, false },
	{ 1049, false },
};

#define KEYS_MAX 16

/* STRING: a title and the like, up to BEL or ESC \. */
enum { TEXT, ESCAPE, SEQUENCE, STRING };

static void set_mode(struct modes *m, unsigned number, bool on)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].number != number)
			continue;
		if (on == known[i].on)
			m->changed &= ~(1u << i);
		else
			m->changed |= 1u << i;
	}
}

static void finish(struct modes *m, char final)
{
	if (m->mark == '?' && (final == 'h' || final == 'l')) {
		for (unsigned i = 0; i < m->count; i++)
			set_mode(m, m->numbers[i], final == 'h');
	} else if (m->mark == '>' && final == 'u' && m->keys < KEYS_MAX) {
		m->keys++;
		m->key_flags = m->numbers[0] & 31;
	} else if (m->mark == '<' && final == 'u') {
		unsigned n = m->numbers[0] ? m->numbers[0] : 1;

		m->keys -= n < m->keys ? n : m->keys;
	}
}

static void end_number(struct modes *m)
{
	if (m->count < ARRAY_SIZE(m->numbers))
		m->numbers[m->count++] = m->number;
	m->number = 0;
}

static void in_sequence(struct modes *m, char c)
{
	if (c >= '0' && c <= '9') {
		m->number = m->number < 100000 ? m->number * 10 + (unsigned)(c - '0') : m->number;
	} else if (c == ';') {
		end_number(m);
	} else if (c >= '<' && c <= '?') {
		m->mark = c;
	} else if (c >= '@' && c <= '~') {
		end_number(m);
		finish(m, c);
		m->at = TEXT;
	} else if (c == '\x1b') {
		m->at = ESCAPE;
	}
}

static unsigned after_escape(char c)
{
	if (c == '[')
		return SEQUENCE;
	if (c == '\x1b')
		return ESCAPE;
	return c && strchr("]P_^X", c) ? STRING : TEXT;
}

void modes_feed(struct modes *m, const char *data, size_t len)
{
	const char *end = data + len;

	while (data < end) {
		if (m->at == TEXT) {
			data = memchr(data, '\x1b', (size_t)(end - data));
			if (!data)
				return;
			m->at = ESCAPE;
		} else if (m->at == ESCAPE) {
			if (*data == 'c') /* a full reset */
				m->changed = m->keys = 0;
			m->at = after_escape(*data);
			m->number = m->count = m->numbers[0] = 0;
			m->mark = 0;
		} else if (m->at == STRING) {
			m->at = *data == '\a' ? TEXT : *data == '\x1b' ? ESCAPE : STRING;
		} else {
			in_sequence(m, *data);
		}
		data++;
	}
}

bool modes_at_text(const struct modes *m)
{
	return m->at == TEXT;
}

bool modes_plain(const struct modes *m)
{
	return modes_at_text(m) && !m->changed && !m->keys;
}

void modes_set(const struct modes *m, struct buf *out)
{
	for (size_t i = ARRAY_SIZE(known); i-- > 0;)
		if (m->changed & 1u << i)
			buf_printf(out, "\x1b[?%u%c", known[i].number, known[i].on ? 'l' : 'h');
	if (m->keys)
		buf_printf(out, "\x1b[>%uu", m->key_flags);
}

void modes_unset(const struct modes *m, struct buf *out)
{
	if (m->keys)
		buf_printf(out, "\x1b[<%uu", m->keys);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (m->changed & 1u << i)
			buf_printf(out, "\x1b[?%u%c", known[i].number, known[i].on ? 'h' : 'l');
	buf_addstr(out, "\x1b[0m");
}
