#include "scratch.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "mcp/mcp.h"
#include "mcp_files/files.h"

static struct files the;
static struct mcp_server server;

static int begin(void **state)
{
	struct scratch *s;

	if (setup(state))
		return -1;
	s = *state;
	assert_int_equal(mkdirat(s->fd, "ws", 0755), 0);
	assert_int_equal(mkdirat(s->fd, "ws-2", 0755), 0);
	put(s->fd, "secret", "SECRET\n");
	put(s->fd, "ws-2/secret", "SECRET\n");
	the = (struct files){ .root = openat(s->fd, "ws", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.path = xasprintf("%s/ws", s->path) };
	server = (struct mcp_server){ .tools = file_tools, .ntools = file_tools_count, .ctx = &the };
	return the.root < 0 ? -1 : 0;
}

static int end(void **state)
{
	close(the.root);
	free(the.path);
	return teardown(state);
}

/* Calls a tool; the text of its result, on the heap. */
static char *call(const char *name, const char *args, bool want_error)
{
	json_t *a = json_loads(args, JSON_ALLOW_NUL, NULL), *r;
	char *text;

	if (!a)
		fail_msg("malformed: %s", args);
	r = mcp_tool_run(&server, mcp_tool_find(&server, name), a);
	text = xstrdup(
		json_string_value(json_object_get(json_array_get(json_object_get(r, "content"), 0), "text")));
	if (json_is_true(json_object_get(r, "isError")) != want_error)
		fail_msg("%s %s: %s", name, args, text);
	json_decref(r);
	json_decref(a);
	return text;
}

static void gives(const char *name, const char *args, const char *want)
{
	auto_str text = call(name, args, false);

	assert_string_equal(text, want);
}

static void has(const char *name, const char *args, const char *want)
{
	auto_str text = call(name, args, false);

	if (!strstr(text, want))
		fail_msg("%s %s: %s", name, args, text);
}

/* The refusal has the code and the boundary. */
static void refuses(const char *name, const char *args, const char *code)
{
	auto_str text = call(name, args, true), want = xasprintf("\"code\":\"%s\"", code);

	if (!strstr(text, want) || !strstr(text, "\"boundary\""))
		fail_msg("%s %s: %s", name, args, text);
}

static void lines_and_bytes(void **state)
{
	(void)state;
	put(the.root, "f", "one\ntwo\nthree\nfour");
	gives("read_text_file", "{\"path\":\"f\"}", "one\ntwo\nthree\nfour");
	gives("read_text_file", "{\"path\":\"f\",\"offset\":2,\"limit\":2}", "two\nthree\n");
	gives("read_text_file", "{\"path\":\"f\",\"offset\":-2}", "three\nfour");
	gives("read_text_file", "{\"path\":\"f\",\"offset\":-2,\"limit\":1,\"line_numbers\":true}",
		"     3\tthree\n");
	gives("read_text_file", "{\"path\":\"f\",\"limit\":1,\"line_numbers\":true}", "     1\tone\n");
	gives("read_text_file", "{\"path\":\"f\",\"offset\":9}", "");
	gives("read_text_file", "{\"path\":\"f\",\"byte_offset\":4,\"byte_length\":3}", "two");
	gives("read_text_file", "{\"path\":\"f\",\"byte_offset\":14}", "four");
	gives("read_text_file", "{\"path\":\"f\",\"byte_offset\":400}", "");
	gives("read_text_file", "{\"path\":\"f\",\"head\":2}", "one\ntwo");
	gives("read_text_file", "{\"path\":\"f\",\"tail\":2}", "three\nfour");
	refuses("read_text_file", "{\"path\":\"f\",\"tail\":2,\"head\":1}", "bad_arguments");
	put(the.root, "g", "gr\xc3\xbcn");
	gives("read_text_file", "{\"path\":\"g\",\"byte_offset\":3}", "n");
	gives("read_text_file", "{\"path\":\"g\",\"byte_length\":3}", "gr");
	put(the.root, "bin", "a\xff");
	refuses("read_text_file", "{\"path\":\"bin\"}", "not_utf8");
}

static void edits_are_never_guessed(void **state)
{
	(void)state;
	put(the.root, "f", "a = 1\nb = 1\na = 1\n");
	refuses("edit_file", "{\"path\":\"f\",\"edits\":[{\"oldText\":\"a = 1\",\"newText\":\"x\"}]}",
		"ambiguous");
	refuses("edit_file", "{\"path\":\"f\",\"edits\":[{\"oldText\":\"  a = 1\",\"newText\":\"x\"}]}",
		"ambiguous");
	refuses("edit_file", "{\"path\":\"f\",\"edits\":[{\"oldText\":\"\",\"newText\":\"x\"}]}",
		"ambiguous");
	refuses("edit_file", "{\"path\":\"f\",\"edits\":[{\"oldText\":\"c\",\"newText\":\"x\"}]}",
		"no_match");
	refuses("edit_file", "{\"path\":\"f\",\"edits\":[{\"oldText\":5,\"newText\":\"x\"}]}",
		"bad_arguments");
	assert_content(the.root, "f", "a = 1\nb = 1\na = 1\n");
	/* all or nothing */
	refuses("edit_file",
		"{\"path\":\"f\",\"edits\":[{\"oldText\":\"b = 1\",\"newText\":\"b = 2\"},{\"oldText\":\"c\",\"newText\":\"x\"}]}",
		"no_match");
	assert_content(the.root, "f", "a = 1\nb = 1\na = 1\n");
	has("edit_file",
		"{\"path\":\"f\",\"edits\":[{\"oldText\":\"a = 1\",\"newText\":\"a = 2\",\"replaceAll\":true}]}",
		"-a = 1\n+a = 2\n b = 1\n-a = 1\n+a = 2\n");
	assert_content(the.root, "f", "a = 2\nb = 1\na = 2\n");
	put(the.root, "empty", "");
	has("edit_file", "{\"path\":\"empty\",\"edits\":[{\"oldText\":\"\",\"newText\":\"x\\n\"}]}", "+x\n");
	assert_content(the.root, "empty", "x\n");
}

static void line_ends_stay(void **state)
{
	(void)state;
	put(the.root, "dos", "one\r\ntwo\r\nthree\r\n");
	has("edit_file", "{\"path\":\"dos\",\"edits\":[{\"oldText\":\"two\\n\",\"newText\":\"2\\n2b\\n\"}]}",
		"+2\n+2b\n");
	assert_content(the.root, "dos", "one\r\n2\r\n2b\r\nthree\r\n");
	put(the.root, "mixed", "a\nb\r\nc\nd\r\ne\n");
	has("edit_file",
		"{\"path\":\"mixed\",\"edits\":[{\"oldText\":\"a\",\"newText\":\"A\"},{\"oldText\":\"c\\n\",\"newText\":\"c\\nC\\n\"}]}",
		"+C\n");
	assert_content(the.root, "mixed", "A\nb\r\nc\nC\nd\r\ne\n");
}

static void a_changed_file_is_not_written(void **state)
{
	static const char of_one[] = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
	auto_str good = xasprintf("{\"path\":\"f\",\"content\":\"two\",\"expected_hash\":\"%s\"}", of_one);

	(void)state;
	put(the.root, "f", "one");
	refuses("write_file", "{\"path\":\"f\",\"content\":\"two\",\"expected_hash\":\"00\"}", "changed");
	refuses("delete_file", "{\"path\":\"f\",\"expected_hash\":\"00\"}", "changed");
	refuses("edit_file", "{\"path\":\"f\",\"expected_hash\":\"00\",\"edits\":[]}", "changed");
	refuses("write_file", "{\"path\":\"none\",\"content\":\"two\",\"expected_hash\":\"00\"}", "changed");
	assert_content(the.root, "f", "one");
	has("write_file", good, "Successfully wrote");
	assert_content(the.root, "f", "two");
	refuses("write_file", good, "changed");
}

static void nothing_is_written_over(void **state)
{
	struct stat st;

	(void)state;
	put(the.root, "a", "a");
	put(the.root, "b", "b");
	assert_int_equal(mkdirat(the.root, "d", 0755), 0);
	put(the.root, "d/x", "x");
	refuses("move_file", "{\"source\":\"a\",\"destination\":\"b\"}", "exists");
	refuses("copy_file", "{\"source\":\"a\",\"destination\":\"b\"}", "exists");
	refuses("move_file", "{\"source\":\"d\",\"destination\":\"d/in\"}", "bad_path");
	refuses("copy_file", "{\"source\":\"d\",\"destination\":\"e\"}", "is_directory");
	refuses("delete_file", "{\"path\":\"d\"}", "not_empty");
	refuses("write_file", "{\"path\":\"d\",\"content\":\"\"}", "is_directory");
	refuses("create_directory", "{\"path\":\"a/b\"}", "not_found");
	assert_content(the.root, "b", "b");
	assert_int_equal(fchmodat(the.root, "a", 0751, 0), 0);
	has("copy_file", "{\"source\":\"a\",\"destination\":\"c\"}", "copied");
	has("write_file", "{\"path\":\"a\",\"content\":\"new\"}", "wrote");
	assert_int_equal(fstatat(the.root, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0751);
	has("delete_file", "{\"path\":\"d\",\"recursive\":true}", "deleted");
	assert_false(there(the.root, "d"));
	has("create_directory", "{\"path\":\"p/q/r\"}", "created");
	assert_true(there(the.root, "p/q/r"));
}

static void the_root_stays(void **state)
{
	static const char *const forms[] = { ".", "", "./", "x/..", "/.." };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms) - 1; i++) {
		auto_str path = xasprintf(
			"{\"path\":\"%s\",\"content\":\"\",\"recursive\":true,\"edits\":[]}", forms[i]);
		auto_str from = xasprintf("{\"source\":\"%s\",\"destination\":\"x\"}", forms[i]);
		auto_str to = xasprintf("{\"source\":\"x\",\"destination\":\"%s\"}", forms[i]);

		refuses("delete_file", path, "is_workspace");
		refuses("write_file", path, "is_workspace");
		refuses("edit_file", path, "is_workspace");
		refuses("move_file", from, "is_workspace");
		put(the.root, "x", "x");
		refuses("move_file", to, "is_workspace");
		refuses("copy_file", to, "is_workspace");
		has("list_directory", path, "[FILE] x");
	}
}

static void links_lead_nowhere_else(void **state)
{
	static const char *const bad[] = { "../secret", "../ws-2/secret", "up/secret", "abs", "dir/secret",
		"magic", "/etc/passwd", "in/../../secret", "~/x", "loop" };
	auto_str secret = xasprintf("%s/../secret", the.path);

	(void)state;
	put(the.root, "a", "inside");
	assert_int_equal(mkdirat(the.root, "in", 0755), 0);
	assert_int_equal(symlinkat("../a", the.root, "in/link"), 0);
	assert_int_equal(symlinkat("..", the.root, "up"), 0);
	assert_int_equal(symlinkat(secret, the.root, "abs"), 0);
	assert_int_equal(symlinkat("../ws-2", the.root, "dir"), 0);
	assert_int_equal(symlinkat("/proc/self/root/etc/passwd", the.root, "magic"), 0);
	assert_int_equal(symlinkat("loop", the.root, "loop"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_str path = xasprintf("{\"path\":\"%s\",\"content\":\"evil\",\"edits\":[]}", bad[i]);

		refuses("read_text_file", path, "outside_workspace");
		refuses("read_media_file", path, "outside_workspace");
		refuses("write_file", path, "outside_workspace");
		refuses("edit_file", path, "outside_workspace");
	}
	/* one that stays inside is followed, also by writing */
	gives("read_text_file", "{\"path\":\"in/link\"}", "inside");
	has("write_file", "{\"path\":\"in/link\",\"content\":\"new\"}", "wrote");
	assert_content(the.root, "a", "new");
	/* moving and removing is about the link itself */
	has("delete_file", "{\"path\":\"dir\"}", "deleted");
	has("move_file", "{\"source\":\"abs\",\"destination\":\"moved\"}", "moved");
	assert_content(AT_FDCWD, secret, "SECRET\n");
}

static void odd_files_do_not_block(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkfifoat(the.root, "fifo", 0600), 0);
	refuses("read_text_file", "{\"path\":\"fifo\"}", "not_regular");
	refuses("write_file", "{\"path\":\"fifo\",\"content\":\"\"}", "not_regular");
	refuses("copy_file", "{\"source\":\"fifo\",\"destination\":\"x\"}", "not_regular");
	refuses("read_text_file", "{\"path\":\"a\\u0000b\"}", "bad_path");
	fd = openat(the.root, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 1LL << 32), 0);
	assert_int_equal(pwrite(fd, "\nend\n", 5, (1LL << 32) - 5), 5);
	close(fd);
	refuses("read_text_file", "{\"path\":\"large\"}", "too_large");
	gives("read_text_file", "{\"path\":\"large\",\"offset\":-1}", "end\n");
	gives("read_text_file", "{\"path\":\"large\",\"byte_offset\":4294967292}", "end\n");
	refuses("read_media_file", "{\"path\":\"large\"}", "too_large");
	refuses("edit_file", "{\"path\":\"large\",\"edits\":[]}", "too_large");
}

static void globs(void **state)
{
	static const char *const yes[][2] = { { "*", "a" }, { "**", "a/b/c" }, { "**/*.c", "x.c" },
		{ "**/*.c", "a/b/x.c" }, { "a/**/b", "a/b" }, { "a/**/b", "a/x/y/b" }, { "{a,b{c,d}}", "bd" },
		{ "[a-c]?", "b1" }, { "[!a]", "b" }, { "\\*", "*" }, { "!x", "y" }, { "a*b*c", "aXXbYYc" },
		{ "?", "\xc3\xbc" }, { ".*", ".git" }, { "*", ".git" } };
	static const char *const no[][2] = { { "*", "a/b" }, { "*.c", "a/x.c" }, { "a/**", "a" },
		{ "[a-c]", "d" }, { "{a,b}", "c" }, { "#a", "#a" }, { "a", "ab" }, { "ab", "a" },
		{ "!x", "x" }, { "A", "a" } };
	char stars[3000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!match_path(yes[i][0], yes[i][1]))
			fail_msg("%s does not match %s", yes[i][0], yes[i][1]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (match_path(no[i][0], no[i][1]))
			fail_msg("%s matches %s", no[i][0], no[i][1]);
	/* a bomb takes no time */
	for (size_t i = 0; i + 3 < sizeof(stars); i += 3)
		memcpy(stars + i, "**/", 4);
	assert_false(match_path(stars, "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/x"));
	assert_false(match_path("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "x"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_and_bytes),
		TEST(edits_are_never_guessed),
		TEST(line_ends_stay),
		TEST(a_changed_file_is_not_written),
		TEST(nothing_is_written_over),
		TEST(the_root_stays),
		TEST(links_lead_nowhere_else),
		TEST(odd_files_do_not_block),
		TEST(globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
