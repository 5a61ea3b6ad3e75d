/* A FIFO or a device in place of a repository's file is found by name, and what git itself leaves there is not. */
#include "testing.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/blocking_files.h"
#include "scratch.h"
#include "sys/fd.h"

static const char *const dirs[] = { "info", "objects", "objects/info", "objects/info/commit-graphs",
	"objects/pack", "refs", "refs/heads", "refs/heads/a", "refs/tags", "logs", "logs/refs", "worktrees",
	"worktrees/w", "hooks" };

static void make_repository(int at)
{
	static const char *const files[] = { "HEAD", "config", "index", "refs/heads/main", "refs/heads/a/b",
		"objects/pack/x.idx", "worktrees/w/HEAD" };
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		assert_int_equal(mkdirat(at, dirs[i], 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_int_equal(write_file(at, files[i], "x", 1, 0600, &e), 0);
}

static int look(const char *path, struct err *e)
{
	auto_str objects = xasprintf("%s/objects", path);

	return blocking_files_refuse(path, e) < 0 || blocking_files_refuse_objects(objects, e) < 0 ? -1 : 0;
}

static void test_a_fifo_is_refused_by_name(void **state)
{
	static const char *const names[] = { "HEAD", "config", "config.worktree", "packed-refs", "index",
		"shallow", "commondir", "MERGE_HEAD", "info/exclude", "info/attributes",
		"objects/info/alternates", "objects/info/commit-graph",
		"objects/info/commit-graphs/commit-graph-chain", "objects/pack/x.idx", "refs/heads/main",
		"refs/heads/a/b", "refs/heads/a/c", "refs/stash", "logs/HEAD", "logs/refs/stash",
		"worktrees/w/HEAD" };
	struct scratch *s = *state;
	struct err e = ERR_INIT;

	make_repository(s->fd);
	/* the control */
	assert_int_equal(look(s->path, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool was = !unlinkat(s->fd, names[i], 0);

		assert_int_equal(mkfifoat(s->fd, names[i], 0600), 0);
		e = (struct err)ERR_INIT;
		assert_int_equal(look(s->path, &e), -1);
		assert_int_equal(e.kind, ERR_REFUSED);
		assert_non_null(strstr(e.msg, names[i]));
		assert_int_equal(unlinkat(s->fd, names[i], 0), 0);
		if (was)
			assert_int_equal(write_file(s->fd, names[i], "x", 1, 0600, &e), 0);
	}
	e = (struct err)ERR_INIT;
	assert_int_equal(look(s->path, &e), 0);
}

static void test_links_are_judged_by_their_target(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;

	make_repository(s->fd);
	assert_int_equal(symlinkat("config", s->fd, "shallow"), 0);
	assert_int_equal(symlinkat("nowhere", s->fd, "FETCH_HEAD"), 0);
	/* a loop is not walked */
	assert_int_equal(symlinkat("..", s->fd, "refs/heads/up"), 0);
	assert_int_equal(look(s->path, &e), 0);
	assert_int_equal(symlinkat("/dev/zero", s->fd, "packed-refs"), 0);
	assert_int_equal(look(s->path, &e), -1);
	assert_non_null(strstr(e.msg, "packed-refs"));
}

/* A thousand tasks have a thousand directories of refs, and every command would read them all. */
static void test_the_refs_of_tasks_are_left_out(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;

	make_repository(s->fd);
	assert_int_equal(mkdirat(s->fd, "refs/garth", 0700), 0);
	assert_int_equal(mkdirat(s->fd, "refs/heads/garth", 0700), 0);
	assert_int_equal(mkfifoat(s->fd, "refs/garth/base", 0600), 0);
	assert_int_equal(look(s->path, &e), 0);
	assert_int_equal(mkfifoat(s->fd, "refs/heads/garth/t", 0600), 0);
	assert_int_equal(look(s->path, &e), -1);
}

/* git's file system monitor listens there; who opens it fails at once. */
static void test_a_socket_is_left_alone(void **state)
{
	struct scratch *s = *state;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct err e = ERR_INIT;

	make_repository(s->fd);
	assert_int_equal(fchdir(s->fd), 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "fsmonitor--daemon.ipc");
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(look(s->path, &e), 0);
	assert_int_equal(chdir("/"), 0);
}

static void test_a_private_repository_is_not_left(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	auto_str none = NULL, fifo = NULL, link = NULL;

	make_repository(s->fd);
	assert_int_equal(mkdirat(s->fd, "objects/ab", 0700), 0);
	assert_int_equal(symlinkat("/nowhere", s->fd, "hooks/reference-transaction"), 0);
	assert_int_equal(symlinkat("../config", s->fd, "info/exclude"), 0);
	assert_int_equal(blocking_files_refuse_private(s->fd, &none, &e), 0);
	assert_null(none);
	assert_int_equal(mkfifoat(s->fd, "objects/ab/cd", 0600), 0);
	assert_int_equal(blocking_files_refuse_private(s->fd, &fifo, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_string_equal(fifo, "objects/ab/cd");
	assert_int_equal(unlinkat(s->fd, "objects/ab/cd", 0), 0);
	assert_int_equal(symlinkat("../../x", s->fd, "refs/out"), 0);
	assert_int_equal(blocking_files_refuse_private(s->fd, &link, &e), -1);
	assert_string_equal(link, "refs/out");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_fifo_is_refused_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_are_judged_by_their_target, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_refs_of_tasks_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_socket_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_private_repository_is_not_left, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
