#include "testing.h"

#include "base/alloc.h"
#include "base/keys.h"

/* Types the pieces, one read each. Returns whether that detaches; *out is what the program gets. */
static bool type(struct keys *k, struct buf *out, const char *const *pieces)
{
	for (; *pieces; pieces++)
		if (keys_pass(k, *pieces, strlen(*pieces), out))
			return true;
	return false;
}

#define TYPE(k, out, ...) type(k, out, (const char *const[]){ __VA_ARGS__, NULL })

static void assert_passes(const char *keys, const char *in, bool detaches, const char *want)
{
	struct err e = ERR_INIT;
	auto_buf out = BUF_SMALL;
	struct keys k;

	assert_int_equal(keys_set(&k, keys, &e), 0);
	assert_int_equal(TYPE(&k, &out, in), detaches);
	assert_string_equal(buf_str(&out), want);
}

static void test_default(void **state)
{
	(void)state;
	assert_passes(NULL,
		"ab\x19"
		"dx",
		true, "ab");
	assert_passes(NULL,
		"\x1d"
		"d",
		true, "");
	assert_passes(NULL, "\x19x", false, "\x19x");
	assert_passes(NULL, "\x19", false, "");
	/* the other one's beginning */
	assert_passes(NULL,
		"\x19\x1d"
		"d",
		true, "\x19");
	assert_passes(NULL, "d\x1b[Ad", false, "d\x1b[Ad");
}

/* Somebody who holds the key loses nothing. */
static void test_repeated(void **state)
{
	struct err e = ERR_INIT;
	auto_buf out = BUF_SMALL;
	struct keys k;

	(void)state;
	keys_set(&k, NULL, &e);
	assert_false(TYPE(&k, &out, "\x19\x19", "\x19", "\x19"));
	assert_string_equal(buf_str(&out), "\x19\x19\x19");
	assert_int_equal(k.nheld, 1);
	keys_release(&k, &out);
	assert_string_equal(buf_str(&out), "\x19\x19\x19\x19");
	assert_int_equal(k.nheld, 0);
	/* released: the next key is on its own */
	assert_false(TYPE(&k, &out, "d"));
	assert_string_equal(buf_str(&out), "\x19\x19\x19\x19"
					   "d");
	assert_true(TYPE(&k, &out, "\x19", "d"));
}

static void test_protocols(void **state)
{
	(void)state;
	assert_passes(NULL, "\x1b[121;5u\x1b[100u", true, "");
	assert_passes(NULL, "\x1b[27;5;121~d", true, "");
	assert_passes(NULL, "\x1b[27;5;93~\x1b[27;1;100~", true, "");
	/* Num Lock, Caps Lock, other forms of the key, keys that are let go */
	assert_passes(NULL, "\x1b[121;133u\x1b[100;129u", true, "");
	assert_passes(NULL, "\x1b[121:89;69:1u\x1b[121;5:3u\x1b[100;1:1u", true, "");
	assert_passes(NULL, "\x1b[121;5:3u\x1b[100u", false, "\x1b[121;5:3u\x1b[100u");
	/* Ctrl-Shift-Y and Alt-d are other keys */
	assert_passes(NULL, "\x1b[121;6ud", false, "\x1b[121;6ud");
	assert_passes(NULL, "\x19\x1b[100;3u", false, "\x19\x1b[100;3u");
	assert_passes(NULL, "\x1b[121;5u\x1b[99u", false, "\x1b[121;5u\x1b[99u");
	/* what looks like it and is none */
	assert_passes(NULL, "\x1b[121;5~d\x1b[", false, "\x1b[121;5~d\x1b[");
}

static void test_own_keys(void **state)
{
	(void)state;
	assert_passes("ctrl-p,ctrl-q", "x\x10\x11", true, "x");
	assert_passes("ctrl-p,ctrl-q", "\x1b[112;5u\x11", true, "");
	/* the built-in ones mean nothing any more */
	assert_passes("ctrl-p,ctrl-q",
		"\x19"
		"d\x1d"
		"d",
		false,
		"\x19"
		"d\x1d"
		"d");
	assert_passes("Ctrl-A,a,B",
		"\x01"
		"ab\x01"
		"aB",
		true,
		"\x01"
		"ab");
	assert_passes("ctrl-a,ctrl-a,d",
		"\x01\x01\x01"
		"d",
		true, "\x01");
	assert_passes("ctrl-\\",
		"a\x1c"
		"b",
		true, "a");
}

static void assert_refused(const char *keys, const char *text)
{
	struct err e = ERR_INIT;
	struct keys k;

	assert_int_equal(keys_set(&k, keys, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, text));
}

static void test_refused(void **state)
{
	(void)state;
	assert_refused("", "'' is not a key");
	assert_refused("ctrl-a,", "'' is not a key");
	assert_refused("ctrl-", "'ctrl-' is not a key");
	assert_refused("ctrl-ab", "'ctrl-ab' is not a key");
	assert_refused("alt-a", "'alt-a' is not a key");
	assert_refused("ctrl-a\x1b", "is not a key");
	assert_refused("ctrl-5", "no ctrl-5");
	assert_refused("d", "the first key that detaches has ctrl-");
	assert_refused("ctrl-m", "ctrl-m is what Enter sends");
	assert_refused("ctrl-a,ctrl-[", "ctrl-[ is what Escape sends");
	assert_refused("ctrl-a,1,2,3,4,5,6,7,8", "at most 8 keys");
}

static void test_text(void **state)
{
	struct err e = ERR_INIT;
	auto_buf out = BUF_SMALL;
	struct keys k;

	(void)state;
	keys_set(&k, NULL, &e);
	keys_text(&k, &out);
	assert_string_equal(buf_str(&out), "Ctrl-Y d");
	buf_reset(&out);
	keys_set(&k, "CTRL-p,Q,ctrl-]", &e);
	keys_text(&k, &out);
	assert_string_equal(buf_str(&out), "Ctrl-P Q Ctrl-]");
}

/* What is held back is bounded, whatever is typed. */
static void test_bounded(void **state)
{
	struct err e = ERR_INIT;
	auto_buf in = BUF_INIT(8192), out = BUF_INIT(8192);
	struct keys k;

	(void)state;
	keys_set(&k, NULL, &e);
	buf_addstr(&in, "\x19");
	for (int i = 0; i < 200; i++)
		buf_addstr(&in, "\x1b[121;5:3u");
	assert_false(keys_pass(&k, in.data, in.len, &out));
	assert_true(k.nheld <= KEYS_HELD_MAX);
	keys_release(&k, &out);
	assert_string_equal(buf_str(&out), buf_str(&in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_protocols),
		cmocka_unit_test(test_own_keys),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
