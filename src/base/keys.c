#include "base/keys.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"

#define ESC 0x1b

/* Control characters that other keys send too. */
static const struct {
	char c;
	const char *key;
} taken[] = { { 'i', "Tab" }, { 'j', "Enter" }, { 'm', "Enter" }, { 'h', "Backspace" }, { '[', "Escape" } };

static int parse_key(const char *word, size_t len, struct key *ret, struct err *e)
{
	bool ctrl = len > 5 && !strncasecmp(word, "ctrl-", 5);
	char c = len ? word[len - 1] : '\0';

	if (len != (ctrl ? 6 : 1) || c <= ' ' || c > '~')
		return err_set(e, ERR_USAGE,
			"'%.*s' is not a key: a key is a character, or ctrl- and a character, as in " KEYS_DEFAULT,
			(int)len, word);
	if (ctrl)
		c = (char)tolower(c);
	if (ctrl && !(c >= 'a' && c <= 'z') && !strchr("@[\\]^_", c))
		return err_set(e, ERR_USAGE, "terminals have no ctrl-%c", c);
	for (size_t i = 0; ctrl && i < ARRAY_SIZE(taken); i++)
		if (c == taken[i].c)
			return err_set(e, ERR_USAGE, "ctrl-%c is what %s sends", c, taken[i].key);
	*ret = (struct key){ ctrl, c };
	return 0;
}

static int parse(struct keys *k, const char *text, struct err *e)
{
	size_t i = k->n, n = 0;

	for (const char *word = text;; word++) {
		size_t len = strcspn(word, ",");

		if (n == KEYS_MAX)
			return err_set(e, ERR_USAGE, "at most %d keys detach", KEYS_MAX);
		if (parse_key(word, len, &k->either[i].key[n++], e) < 0)
			return -1;
		word += len;
		if (!*word)
			break;
	}
	if (!k->either[i].key[0].ctrl)
		return err_set(e, ERR_USAGE, "the first key that detaches has ctrl-, as in " KEYS_DEFAULT);
	k->either[i].n = n;
	k->n++;
	return 0;
}

int keys_set(struct keys *k, const char *text, struct err *e)
{
	*k = (struct keys){ 0 };
	if (text)
		return parse(k, text, e);
	return parse(k, KEYS_DEFAULT, e) < 0 ? -1 : parse(k, KEYS_ALSO, e);
}

void keys_text(const struct keys *k, struct buf *out)
{
	for (size_t i = 0; i < k->either[0].n; i++) {
		const struct key *key = &k->either[0].key[i];

		buf_printf(out, "%s%s%c", i ? " " : "", key->ctrl ? "Ctrl-" : "",
			key->ctrl ? toupper(key->c) : key->c);
	}
}

/* What a terminal sent for one key. */
struct stroke {
	size_t len;
	bool raw; /* one byte, `code` */
	bool ctrl, released;
	unsigned code; /* 0: a key that is none of ours */
};

/* The numbers of ESC [ a:b;c:d;e F: numbers[0] has a and b. Returns the length with the final byte, or 0. */
static size_t read_numbers(const char *in, size_t len, unsigned numbers[3][2])
{
	size_t field = 0, part = 0;

	for (size_t i = 2; i < len && i < 40; i++) {
		if (in[i] >= '0' && in[i] <= '9') {
			unsigned *n = field < 3 && part < 2 ? &numbers[field][part] : NULL;

			if (n && *n < 1000000)
				*n = *n * 10 + (unsigned)(in[i] - '0');
		} else if (in[i] == ';') {
			field++;
			part = 0;
		} else if (in[i] == ':') {
			part++;
		} else {
			return i + 1;
		}
	}
	return 0;
}

/* Both protocols add 1 to the bits of the modifiers: 4 is Ctrl, and 64 and 128 are Caps Lock and Num Lock. */
static struct stroke read_stroke(const char *in, size_t len)
{
	unsigned n[3][2] = { 0 }, modifiers, event;
	struct stroke s = { .len = 1, .raw = true, .code = (unsigned char)in[0] };
	size_t got;

	if (in[0] != ESC || len < 2 || in[1] != '[' || !(got = read_numbers(in, len, n)))
		return s;
	s = (struct stroke){ .len = got };
	if (in[got - 1] == 'u')
		s.code = n[0][0], modifiers = n[1][0], event = n[1][1];
	else if (in[got - 1] == '~' && n[0][0] == 27)
		s.code = n[2][0], modifiers = n[1][0], event = n[1][1];
	else
		return s;
	modifiers = (modifiers ? modifiers - 1 : 0) & ~(64u | 128u);
	s.released = event == 3;
	s.ctrl = modifiers == 4;
	if (modifiers && !s.ctrl)
		s.code = 0;
	return s;
}

static bool is_key(const struct stroke *s, const struct key *key)
{
	if (s->raw)
		return s->code == (unsigned char)(key->ctrl ? key->c & 0x1f : key->c);
	return !s->released && s->ctrl == key->ctrl && s->code == (unsigned char)key->c;
}

enum found { NOT, BEGUN, WHOLE };

static enum found look(const struct key *keys, size_t n, const char *in, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		struct stroke s = { .released = true };

		/* some programs want to know of keys that are let go */
		while (at < len && s.released) {
			s = read_stroke(in + at, len - at);
			at += s.len;
			if (!i)
				break;
		}
		if (i && at == len && s.released)
			return BEGUN;
		if (s.released || !is_key(&s, &keys[i]))
			return NOT;
	}
	return WHOLE;
}

static enum found look_both(const struct keys *k, const char *in, size_t len)
{
	enum found best = NOT;

	for (size_t i = 0; i < k->n; i++) {
		enum found f = look(k->either[i].key, k->either[i].n, in, len);

		if (f > best)
			best = f;
	}
	return best;
}

bool keys_pass(struct keys *k, const char *in, size_t len, struct buf *out)
{
	auto_buf all = BUF_INIT(1 << 20);
	const char *p;

	buf_add(&all, k->held, k->nheld);
	buf_add(&all, in, len);
	k->nheld = 0;
	p = buf_str(&all);
	for (size_t left = all.len; left; p++, left--) {
		enum found f = look_both(k, p, left);

		if (f == WHOLE)
			return true;
		if (f == BEGUN && left <= KEYS_HELD_MAX) {
			memcpy(k->held, p, left);
			k->nheld = left;
			return false;
		}
		buf_add(out, p, 1);
	}
	return false;
}

void keys_release(struct keys *k, struct buf *out)
{
	buf_add(out, k->held, k->nheld);
	k->nheld = 0;
}
