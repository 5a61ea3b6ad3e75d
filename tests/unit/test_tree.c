#include "scratch.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "base/strvec.h"
#include "sys/remove_later.h"
#include "sys/lock.h"

static enum tree_next collect(const struct tree_entry *t, void *arg, struct err *e)
{
	struct stat st;

	(void)e;
	assert_int_equal(fstatat(t->dir, t->name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_ino, t->st.st_ino);
	strvec_push(arg, t->path);
	return !strcmp(t->name, "skipped") ? TREE_SKIP : TREE_ON;
}

static void test_walk(void **state)
{
	struct scratch *s = *state;
	auto_strvec v = STRVEC_INIT;
	struct err e = ERR_INIT;

	close(mkdirs_beneath(s->fd, "a/b", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "skipped/x", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "...", 0700, -1, -1));
	put(s->fd, "a/b/f", "");
	assert_int_equal(symlinkat("/etc", s->fd, "a/out"), 0);
	assert_int_equal(symlinkat("..", s->fd, "a/loop"), 0);
	assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
	assert_int_equal(tree_walk(s->fd, collect, &v, &e), 0);
	strvec_sort(&v);
	assert_int_equal(v.n, 8);
	assert_string_equal(v.v[0], "...");
	assert_string_equal(v.v[1], "a");
	assert_string_equal(v.v[2], "a/b");
	assert_string_equal(v.v[3], "a/b/f");
	assert_string_equal(v.v[4], "a/loop");
	assert_string_equal(v.v[5], "a/out");
	assert_string_equal(v.v[6], "fifo");
	assert_string_equal(v.v[7], "skipped");
}

static enum tree_next stop(const struct tree_entry *t, void *arg, struct err *e)
{
	(void)t;
	++*(int *)arg;
	err_set(e, ERR_REFUSED, "stopped");
	return TREE_STOP;
}

static void test_walk_stops(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	int calls = 0;

	put(s->fd, "a", "");
	put(s->fd, "b", "");
	assert_int_equal(tree_walk(s->fd, stop, &calls, &e), -1);
	assert_int_equal(calls, 1);
	assert_string_equal(e.msg, "stopped");
}

#define DIRS 300

static void make_wide(struct scratch *s)
{
	for (int i = 0; i < DIRS; i++) {
		auto_str dir = xasprintf("d%d/x/y", i % 7 ? i : 0), file = xasprintf("%s/f%d", dir, i);

		close(mkdirs_beneath(s->fd, dir, 0700, -1, -1));
		put(s->fd, file, "");
	}
}

/* Each entry is seen once and by one thread, however the work is divided. */
static void test_walk_many(void **state)
{
	struct scratch *s = *state;
	struct strvec v[4] = { STRVEC_INIT, STRVEC_INIT, STRVEC_INIT, STRVEC_INIT };
	auto_strvec alone = STRVEC_INIT;
	struct err e = ERR_INIT;

	make_wide(s);
	assert_int_equal(tree_walk(s->fd, collect, &alone, &e), 0);
	strvec_sort(&alone);
	for (int round = 0; round < 50; round++) {
		auto_strvec all = STRVEC_INIT;
		void *args[] = { &v[0], &v[1], &v[2], &v[3] };

		assert_int_equal(tree_walk_many(s->fd, collect, args, 4, &e), 0);
		for (int i = 0; i < 4; i++) {
			for (size_t k = 0; k < v[i].n; k++)
				strvec_push(&all, v[i].v[k]);
			strvec_release(&v[i]);
			v[i] = (struct strvec)STRVEC_INIT;
		}
		strvec_sort(&all);
		assert_int_equal(all.n, alone.n);
		for (size_t i = 0; i < all.n; i++)
			assert_string_equal(all.v[i], alone.v[i]);
	}
}

static enum tree_next stop_at_one(const struct tree_entry *t, void *arg, struct err *e)
{
	(void)arg;
	if (strcmp(t->name, "f150"))
		return TREE_ON;
	err_set(e, ERR_REFUSED, "stopped");
	return TREE_STOP;
}

static void test_walk_many_stops(void **state)
{
	struct scratch *s = *state;

	make_wide(s);
	for (int round = 0; round < 50; round++) {
		void *args[4] = { NULL };
		struct err e = ERR_INIT;

		assert_int_equal(tree_walk_many(s->fd, stop_at_one, args, 4, &e), -1);
		assert_string_equal(e.msg, "stopped");
	}
}

/* What vanishes during the walk is skipped. */
static enum tree_next removes_all(const struct tree_entry *t, void *arg, struct err *e)
{
	struct scratch *s = arg;

	(void)t;
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d%d", i);
		assert_int_equal(tree_remove(s->fd, name, e), 0);
	}
	return TREE_ON;
}

static void test_walk_survives_removal(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;

	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d%d/x", i);
		close(mkdirs_beneath(s->fd, name, 0700, -1, -1));
	}
	assert_int_equal(tree_walk(s->fd, removes_all, s, &e), 0);
}

/* Nests directories by name, without paths, to any depth. */
static void nest(int dir, const char *name, int depth)
{
	int at = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < depth; i++) {
		int next;

		assert_int_equal(mkdirat(at, name, 0700), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
}

static enum tree_next count(const struct tree_entry *t, void *arg, struct err *e)
{
	(void)e;
	*(int *)arg += t->closed ? 10000 : 1;
	return TREE_ON;
}

static void test_walk_depth(void **state)
{
	struct scratch *s = *state;
	struct rlimit limit = { 0 };
	struct err e = ERR_INIT;
	int n = 0;

	/* the soft limit that shells give: the deepest tree allowed has to fit */
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
	setrlimit(RLIMIT_NOFILE, &limit);
	nest(s->fd, "d", TREE_MAX_DEPTH - 1);
	assert_int_equal(tree_walk(s->fd, count, &n, &e), 0);
	assert_int_equal(n, TREE_MAX_DEPTH - 1);
	assert_int_equal(tree_remove(s->fd, "d", &e), 0);
	/* a deeper tree does not stop the walk: the directory where it ends is reported as closed */
	nest(s->fd, "d", TREE_MAX_DEPTH + 5);
	n = 0;
	assert_int_equal(tree_walk(s->fd, count, &n, &e), 0);
	assert_int_equal(n, TREE_MAX_DEPTH + 10000);
}

static void test_remove(void **state)
{
	struct scratch *s = *state;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct err e = ERR_INIT;

	close(mkdirs_beneath(s->fd, "t/a/b/c", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "t/a/e", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "keep", 0700, -1, -1));
	put(s->fd, "keep/file", "kept");
	put(s->fd, "t/a/b/f", "");
	put(s->fd, "t/\n\033", "");
	assert_int_equal(symlinkat("../keep", s->fd, "t/link"), 0);
	assert_int_equal(symlinkat("../../keep", s->fd, "t/a/link"), 0);
	assert_int_equal(mkfifoat(s->fd, "t/fifo", 0600), 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/t/sock", s->path);
	assert_int_equal(bind(sock, (struct sockaddr *)&a, sizeof(a)), 0);
	close(sock);
	assert_int_equal(tree_remove(s->fd, "t", &e), 0);
	assert_false(there(s->fd, "t"));
	assert_content(s->fd, "keep/file", "kept");
	assert_int_equal(tree_remove(s->fd, "t", &e), 0);
	assert_int_equal(tree_remove(s->fd, "keep/file", &e), 0);
	assert_false(there(s->fd, "keep/file"));
}

static void test_remove_does_not_follow(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	struct stat st;

	close(mkdirs_beneath(s->fd, "keep", 0755, -1, -1));
	put(s->fd, "keep/file", "kept");
	assert_int_equal(symlinkat("keep", s->fd, "link"), 0);
	assert_int_equal(tree_remove(s->fd, "link", &e), 0);
	assert_content(s->fd, "keep/file", "kept");
	assert_int_equal(fstatat(s->fd, "keep", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
}

static void test_remove_very_deep(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;

	assert_int_equal(mkdirat(s->fd, "bomb", 0700), 0);
	{
		auto_fd dir = openat(s->fd, "bomb", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		nest(dir, "a-name-that-is-not-so-short", 10000);
	}
	assert_int_equal(tree_remove(s->fd, "bomb", &e), 0);
	assert_false(there(s->fd, "bomb"));
}

/* Directories that were moved up to the root must not be visited there again and again. */
static void test_remove_wide(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;

	for (int i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "wide/%d/x", i);
		close(mkdirs_beneath(s->fd, name, 0700, -1, -1));
	}
	alarm(50); /* a walk that visits them would not end */
	assert_int_equal(tree_remove(s->fd, "wide", &e), 0);
	alarm(0);
	assert_false(there(s->fd, "wide"));
}

/* T6: removes some now, the rest another time; never more than requested. */
static void test_remove_some(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	int rc, times = 0;

	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "some/%d/x", i % 7);
		close(mkdirs_beneath(s->fd, name, 0700, -1, -1));
		snprintf(name, sizeof(name), "some/%d/x/%d", i % 7, i);
		put(s->fd, name, "");
	}
	while ((rc = tree_remove_some(s->fd, "some", 40, &e)) > 0)
		times++;
	assert_int_equal(rc, 0);
	assert_false(there(s->fd, "some"));
	assert_in_range(times, 300 / 40, 20);
}

/* T6: a small tree is removed at once, a large one soon; no lock is held meanwhile. */
static void test_remove_later(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	auto_lock lock = -1;

	close(mkdirs_beneath(s->fd, "small/x", 0700, -1, -1));
	assert_int_equal(later_remove(s->fd, "small", &e), 0);
	assert_false(there(s->fd, "small"));
	assert_int_equal(later_remove(s->fd, "nothing", &e), 0);
	for (int i = 0; i < 3000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "large/%d", i);
		close(mkdirs_beneath(s->fd, name, 0700, -1, -1));
	}
	assert_int_equal(lock_take(s->fd, "lock", true, &lock, &e), 0);
	assert_int_equal(later_remove(s->fd, "large", &e), 0);
	/* released by closing: a copy in another process would keep it */
	fd_closep(&lock);
	lock = -1;
	assert_false(lock_is_held(s->fd, "lock"));
	for (int i = 0; i < 1000 && there(s->fd, "large"); i++)
		usleep(10000);
	assert_false(there(s->fd, "large"));
}

static int remove_without_rights(const struct scratch *s)
{
	struct err e = ERR_INIT;

	close(mkdirs_beneath(s->fd, "w/work/deep/er", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "w/ro/full", 0700, -1, -1));
	if (fchmodat(s->fd, "w/work/deep/er", 0, 0) < 0 || fchmodat(s->fd, "w/work/deep", 0, 0) < 0 ||
		fchmodat(s->fd, "w/work", 0, 0) < 0 || fchmodat(s->fd, "w/ro/full", 0555, 0) < 0 ||
		fchmodat(s->fd, "w/ro", 0555, 0) < 0 || fchmodat(s->fd, "w", 0, 0) < 0)
		return 2;
	if (tree_remove(s->fd, "w", &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	return there(s->fd, "w");
}

/* Facts 5: overlayfs leaves directories with mode 000 */
static void test_remove_without_rights(void **state)
{
	assert_int_equal(as_user(*state, remove_without_rights), 0);
}

static void test_disk(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	uint64_t empty = 1, one = 0, linked = 0;
	char *data = xcalloc(1, 100000);
	auto_fd fd = -1;

	memset(data, 'x', 100000);
	assert_int_equal(tree_disk(s->fd, "none", &empty, &e), 0);
	assert_int_equal(empty, 0);
	assert_int_equal(mkdirat(s->fd, "d", 0700), 0);
	assert_int_equal(write_file(s->fd, "d/f", data, 100000, 0600, &e), 0);
	/* blocks count only after they are on the disk */
	fd = openat(s->fd, "d/f", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(symlinkat("/usr", s->fd, "d/link"), 0);
	assert_int_equal(tree_disk(s->fd, "d", &one, &e), 0);
	assert_in_range(one, 90000, 200000);
	assert_int_equal(linkat(s->fd, "d/f", s->fd, "d/g", 0), 0);
	assert_int_equal(tree_disk(s->fd, "d", &linked, &e), 0);
	assert_in_range(linked, one - 1024, one + 1024);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_walk),
		scratch_test(test_walk_stops),
		scratch_test(test_walk_many),
		scratch_test(test_walk_many_stops),
		scratch_test(test_walk_survives_removal),
		scratch_test(test_walk_depth),
		scratch_test(test_remove),
		scratch_test(test_remove_does_not_follow),
		scratch_test(test_remove_very_deep),
		scratch_test(test_remove_wide),
		scratch_test(test_remove_some),
		scratch_test(test_remove_later),
		scratch_test(test_remove_without_rights),
		scratch_test(test_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
