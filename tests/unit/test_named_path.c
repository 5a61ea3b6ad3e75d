/* ESCAPES 40: paths that a repository names are followed by hand, to where they lead or would lead. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/named_path.h"
#include "scratch.h"

static bool is_refused(const struct scratch *s, const char *path)
{
	auto_str at = path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", s->path, path);
	struct err e = ERR_INIT;

	return named_path_check(at, "x", &e) < 0;
}

static void test_paths(void **state)
{
	static const char *const no[] = { "/proc/self/cwd/x", "/proc", "/dev/fd/0", "/proc/../proc/1",
		"home/x", "home", "home/not/there/x", "to-proc", "to-proc/more", "chain", "dir/up",
		"dangling", "dangling/x", "missing/../home/x", "shared", "shared/x", "to-shared/x" };
	static const char *const yes[] = { "dir", "dir/x", "missing/x", "to-dir/x", "homely/x", "loop", "/",
		"/etc", "dir/../dir/./x", "/../etc" };
	static const struct {
		const char *to, *name;
	} links[] = { { "/proc/self/cwd/x", "to-proc" }, { "dir", "to-dir" }, { "to-home", "chain" },
		{ "home/x", "to-home" }, { "../home/y", "dir/up" }, { "home/worktrees/new", "dangling" },
		{ "loop", "loop" }, { "shared", "to-shared" } };
	struct scratch *s = *state;
	auto_str home = xasprintf("%s/home", s->path), shared = xasprintf("%s/shared", s->path);

	assert_int_equal(mkdirat(s->fd, "home", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "dir", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		assert_int_equal(symlinkat(links[i].to, s->fd, links[i].name), 0);
	named_path_set_home(home);
	/* not there yet */
	named_path_add_writable(shared);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (!is_refused(s, no[i]))
			fail_msg("%s is not refused", no[i]);
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (is_refused(s, yes[i]))
			fail_msg("%s is refused", yes[i]);
}

/* A link that the user made is followed, one that an agent may have made is not. */
static void test_real(void **state)
{
	static const struct {
		const char *path, *real; /* NULL: refused */
	} cases[] = { { "dir/./x", "dir/x" }, { "dir/../dir/x", "dir/x" }, { "to-dir/x", "dir/x" },
		{ "dir/none", NULL }, { "theirs", "theirs" }, { "theirs/own", "theirs/own" },
		{ "to-theirs/own", "theirs/own" }, { "theirs/link", NULL }, { "theirs/link/x", NULL },
		{ "to-theirs/link/x", NULL }, { "theirs/near/x", NULL },
		{ "theirs/own/../../dir/x", "dir/x" } };
	static const struct {
		const char *to, *name;
	} links[] = { { "dir", "to-dir" }, { "theirs", "to-theirs" }, { "../dir", "theirs/link" },
		{ "own", "theirs/near" } };
	struct scratch *s = *state;
	auto_str theirs = xasprintf("%s/theirs", s->path);

	assert_int_equal(mkdirat(s->fd, "dir", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "dir/x", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "theirs", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "theirs/own", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "theirs/own/x", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		assert_int_equal(symlinkat(links[i].to, s->fd, links[i].name), 0);
	named_path_add_writable(theirs);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_str path = xasprintf("%s/%s", s->path, cases[i].path), real = named_path_real(path);
		auto_str want = cases[i].real ? xasprintf("%s/%s", s->path, cases[i].real) : NULL;

		if (!real != !want || (want && strcmp(real, want) != 0))
			fail_msg("%s is %s", cases[i].path, real ? real : "refused");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_real, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
