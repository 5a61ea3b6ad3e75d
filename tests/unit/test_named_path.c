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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
