#include "scratch.h"

#include "base/alloc.h"
#include "git/gitmodules.h"

/* What is read, as "NAME=PATH NAME=PATH"; "!" in front if the file is broken. */
static char *read_text(const char *text)
{
	auto_strvec parsed = STRVEC_INIT;
	auto_buf out = BUF_SMALL;

	if (!gitmodules_parse(text, strlen(text), &parsed))
		buf_addch(&out, '!');
	for (size_t i = 0; i < parsed.n; i += 2)
		buf_printf(&out, "%s%s=%s", i ? " " : "", parsed.v[i], parsed.v[i + 1]);
	return xstrdup(buf_str(&out));
}

static void reads(const char *text, const char *want)
{
	auto_str got = read_text(text);

	assert_string_equal(got, want);
}

static void test_plain(void **state)
{
	(void)state;
	reads("", "");
	reads("[submodule \"a\"]\n\tpath = libs/a\n\turl = x\n[submodule \"b\"]\n\turl = y\n\tpath = b\n",
		"a=libs/a b=b");
	reads("[SubModule \"a\"] PATH = \"with blank \" ; end\n", "a=with blank ");
	reads("[submodule \"a\"]\r\n\tpath = a\r\n", "a=a");
	reads("# c\n[core]\npath = x\n[submodule]\npath = y\n[submodule \"a\"]\npath = one\npath = two\nshallow\n",
		"a=two");
	reads("[submodule \"q\\\"x\"]\npath = a\n", "q\"x=a");
}

static void test_hostile(void **state)
{
	static const char *const bad[] = { "..", "../x", "a/../b", "a/..", "/etc", "-u./payload",
		"--upload-pack=x", "a//b", "a/", ".", "./a", ".git", "a/.git/hooks", "a/.GiT", "\"a\\nb\"",
		"\"a\\tb\"", "a\\\\b", "\"\"", "a\\\n b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_str as_path =
			xasprintf("[submodule \"n\"]\npath = %s\n[submodule \"m\"]\npath = m\n", bad[i]);

		reads(as_path, "m=m");
	}
	for (size_t i = 0; i < 14; i++) {
		auto_str as_name =
			xasprintf("[submodule \"%s\"]\npath = p\n[submodule \"m\"]\npath = m\n", bad[i]);

		reads(as_name, "m=m");
	}
}

static void test_broken(void **state)
{
	static const char *const bad[] = { "[submodule \"a\nb\"]\npath = x\n", "[submodule \"a\"\npath = x\n",
		"[submodule \"a\"]\npath = \"x\n", "[submodule \"a\"]\npath = \\x\n",
		"[submodule \"a\"]\n= x\n", "[submodule \"a\"]\npath x\n", "[submodule \"a\\" };
	static const char nul[] = "[submodule \"a\"]\npath = a\0b\n";
	auto_strvec parsed = STRVEC_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_str text = xasprintf("[submodule \"m\"]\npath = m\n%s", bad[i]);

		reads(text, "!m=m");
	}
	assert_false(gitmodules_parse(nul, sizeof(nul) - 1, &parsed));
	assert_int_equal(parsed.n, 0);
}

static void test_name(void **state)
{
	static const char text[] = "[submodule \"a\"]\npath = p\n[submodule \"b\"]\npath = p\n";
	auto_strvec parsed = STRVEC_INIT;

	(void)state;
	assert_true(gitmodules_parse(text, sizeof(text) - 1, &parsed));
	assert_string_equal(gitmodules_name(&parsed, "p"), "b");
	assert_null(gitmodules_name(&parsed, "a"));
	assert_null(gitmodules_name(&(struct strvec)STRVEC_INIT, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
