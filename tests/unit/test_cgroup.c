#include "testing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strvec.h"
#include "sys/cgroup.h"
#include "sys/fd.h"
#include "sys/tree.h"

static char top[] = "/tmp/garth-cgroup.XXXXXX";

static void file(const char *path, const char *text)
{
	auto_str full = xasprintf("%s/%s", top, path);
	auto_fd fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void dir(const char *path)
{
	auto_str full = xasprintf("%s/%s", top, path);

	assert_int_equal(mkdir(full, 0755), 0);
}

static void assert_file(const char *path, const char *want)
{
	auto_buf text = BUF_SMALL;
	auto_str full = xasprintf("%s/%s", top, path);
	struct err e = ERR_INIT;

	assert_int_equal(read_file(AT_FDCWD, full, &text, &e), 0);
	assert_string_equal(buf_str(&text), want);
}

/* The kernel makes a group's files together with its directory; here the test does. */
static void group(const char *path)
{
	static const char *const files[] = { "cgroup.procs", "memory.max", "pids.max", "cpu.max" };

	dir(path);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_str name = xasprintf("%s/%s", path, files[i]);

		file(name, "");
	}
}

static int set_up(void **state)
{
	(void)state;
	memcpy(top + sizeof(top) - 7, "XXXXXX", 6);
	return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
	auto_fd tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = ERR_INIT;

	(void)state;
	return tree_remove(tmp, top + strlen("/tmp/"), &e);
}

/* systemd: our own group has processes; the slice above it is the user's and delegates its controllers. */
static void test_v2(void **state)
{
	const struct cgroup_limits l = { .memory = 1000, .procs = 20, .cpu = 150 };
	struct cgroup g;

	(void)state;
	dir("root"), dir("root/user"), dir("root/user/app"), group("root/user/app/own"),
		group("root/user/app/garth-1");
	file("root/user/app/cgroup.subtree_control", "cpu memory pids\n");
	/* it would be accepted, and spoil the group */
	file("root/user/app/own/cgroup.type", "domain\n");
	file("root/user/app/own/cgroup.procs", "5\n");
	file("root/user/app/own/cgroup.subtree_control", "\n");
	dir("root/user/app/own/garth-1");
	file("self", "0::/user/app/own\n");
	auto_str root = xasprintf("%s/root", top), self = xasprintf("%s/self", top);
	assert_int_equal(cgroup_make(&(struct cgroup_places){ root, self }, "garth-1", &l, &g),
		CGROUP_MEMORY | CGROUP_PROCS | CGROUP_CPU);
	assert_int_equal(g.n, 1);
	assert_file("root/user/app/garth-1/memory.max", "1000");
	assert_file("root/user/app/garth-1/pids.max", "20");
	assert_file("root/user/app/garth-1/cpu.max", "150000 100000");
	assert_int_equal(cgroup_enter(&g, 77), 0);
	assert_file("root/user/app/garth-1/cgroup.procs", "77");
	assert_file("root/user/app/own/cgroup.subtree_control", "\n");
	file("root/user/app/garth-1/memory.events", "low 0\noom 3\noom_kill 2\n");
	assert_int_equal(cgroup_oom_kills(&g), 2);
	cgroup_remove(&g);
	assert_int_equal(g.n, 0);
}

/* Only what is requested, and only what exists. */
static void test_some(void **state)
{
	const struct cgroup_limits l = { .memory = 1000, .cpu = 50 };
	struct cgroup g;

	(void)state;
	dir("root"), dir("root/memory"), dir("root/memory/own"), dir("root/memory/own/garth-2");
	file("root/memory/own/garth-2/memory.limit_in_bytes", "");
	file("self", "3:memory:/own\n2:cpu,cpuacct:/\n0::/\n");
	auto_str root = xasprintf("%s/root", top), self = xasprintf("%s/self", top);
	assert_int_equal(
		cgroup_make(&(struct cgroup_places){ root, self }, "garth-2", &l, &g), CGROUP_MEMORY);
	assert_file("root/memory/own/garth-2/memory.limit_in_bytes", "1000");
	cgroup_remove(&g);
}

static void test_none(void **state)
{
	const struct cgroup_limits l = { .memory = 1000 };
	struct cgroup g;

	(void)state;
	dir("root");
	auto_str root = xasprintf("%s/root", top), self = xasprintf("%s/self", top);
	assert_int_equal(cgroup_make(&(struct cgroup_places){ root, self }, "garth-3", &l, &g), 0);
	file("self", "garbage\n::\n0:\n");
	assert_int_equal(cgroup_make(&(struct cgroup_places){ root, self }, "garth-3", &l, &g), 0);
	file("self", "0::/a/b/c\n");
	assert_int_equal(cgroup_make(&(struct cgroup_places){ root, self }, "garth-3", &l, &g), 0);
	assert_int_equal(cgroup_enter(&g, 1), 0);
	assert_int_equal(cgroup_oom_kills(&g), 0);
}

/* T9: this home's groups, wherever they are, and no others. */
static void test_find(void **state)
{
	auto_strvec found = STRVEC_INIT;
	struct cgroup_places p = { 0 };

	(void)state;
	dir("root");
	dir("root/pids");
	dir("root/pids/deep");
	auto_str root = xasprintf("%s/root", top);
	auto_fd home = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str mine = cgroup_name(home, 7), at = xasprintf("root/pids/deep/%s", mine),
		 full = xasprintf("%s/%s", top, at), more = xasprintf("%sx", at);
	dir(at);
	dir(more);
	dir("root/pids/garth-1-7");
	dir("root/garth-7");
	p.root = root;
	cgroup_find(&p, home, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.v[0], full);
	assert_int_equal(cgroup_task(found.v[0]), 7);
	p.root = "/nonexistent";
	cgroup_find(&p, home, &found);
	assert_int_equal(found.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_v2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_some, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
