/*
 * A directory of a test's own: `setup` and `teardown` are for cmocka_unit_test_setup_teardown, `*state` is
 * the struct scratch. as_user() runs a function in a child that is not root.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

#include "base/err.h"
#include "sys/fd.h"
#include "sys/tree.h"

struct scratch {
	char path[64];
	int fd;
};

static inline int setup(void **state)
{
	static struct scratch s;

	/* in memory where possible: thousands of directories are slow on a busy disk */
	snprintf(s.path, sizeof(s.path), "%s/garth-unit.XXXXXX",
		access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(s.path))
		return -1;
	s.fd = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = &s;
	return s.fd < 0 ? -1 : 0;
}

static inline int teardown(void **state)
{
	struct scratch *s = *state;
	auto_fd above = openat(s->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = ERR_INIT;

	close(s->fd);
	return tree_remove(above, strrchr(s->path, '/') + 1, &e);
}

static inline void put(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_full(fd, text, strlen(text)), 0);
	close(fd);
}

static inline void assert_content(int dir, const char *path, const char *text)
{
	auto_buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;

	assert_int_equal(read_file(dir, path, &b, &e), 0);
	assert_string_equal(buf_str(&b), text);
}

static inline bool there(int dir, const char *path)
{
	struct stat st;

	return !fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW);
}

/* The function's result, from a child without root's rights; the scratch directory belongs to it. */
static inline int as_user(const struct scratch *s, int (*fn)(const struct scratch *s))
{
	int status = 0;
	pid_t pid;

	if (geteuid() == 0)
		assert_int_equal(fchown(s->fd, 65534, 65534), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
					      setresuid(65534, 65534, 65534) < 0))
			_exit(99);
		_exit(fn(s));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
