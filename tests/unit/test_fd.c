#include "scratch.h"

#include <signal.h>
#include <sys/socket.h>

#include "base/alloc.h"

static void test_steal_and_close(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), copy = fd;

	(void)state;
	assert_int_equal(fd_steal(&fd), copy);
	assert_int_equal(fd, -1);
	errno = 42;
	fd_closep(&fd);
	fd_closep(&copy);
	assert_int_equal(errno, 42);
	assert_int_equal(fcntl(copy, F_GETFD), -1);
}

static void assert_open_fails(int dir, const char *path, int flags)
{
	int fd = open_beneath(dir, path, flags, 0600);

	if (fd >= 0)
		fail_msg("'%s' could be opened", path);
}

/* ESCAPES, files: links, "..", absolute paths and /proc links do not lead out */
static void test_beneath(void **state)
{
	struct scratch *s = *state;
	auto_fd dir = mkdirs_beneath(s->fd, "in", 0700, -1, -1);
	auto_fd good = -1, self = -1, empty = -1;

	assert_int_equal(mkdirat(dir, "sub", 0700), 0);
	put(s->fd, "secret", "s");
	put(s->fd, "in/sub/file", "f");
	assert_int_equal(symlinkat("../secret", dir, "up"), 0);
	assert_int_equal(symlinkat("sub/file", dir, "inner"), 0);
	assert_int_equal(symlinkat("sub", dir, "inner-dir"), 0);
	assert_int_equal(symlinkat("/etc/passwd", dir, "absolute"), 0);
	assert_int_equal(symlinkat("/proc/self/root", dir, "magic"), 0);
	good = open_beneath(dir, "sub/file", O_RDONLY, 0);
	assert_true(good >= 0);
	assert_true(fcntl(good, F_GETFD) & FD_CLOEXEC);
	self = open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0);
	empty = open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	assert_true(self >= 0 && empty >= 0);
	assert_open_fails(dir, "../secret", O_RDONLY);
	assert_open_fails(dir, "sub/../../secret", O_RDONLY);
	assert_open_fails(dir, "..", O_RDONLY);
	assert_open_fails(dir, "/etc/passwd", O_RDONLY);
	assert_open_fails(dir, "up", O_RDONLY);
	assert_open_fails(dir, "inner", O_RDONLY);
	assert_open_fails(dir, "inner-dir/file", O_RDONLY);
	assert_open_fails(dir, "absolute", O_RDONLY);
	assert_open_fails(dir, "magic/etc/passwd", O_RDONLY);
	assert_open_fails(dir, "up", O_WRONLY | O_CREAT | O_TRUNC);
	assert_content(s->fd, "secret", "s");
}

static void test_regular_only(void **state)
{
	struct scratch *s = *state;
	auto_fd fd = -1;

	put(s->fd, "file", "x");
	assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(s->fd, "dir", 0700), 0);
	assert_int_equal(symlinkat("file", s->fd, "link"), 0);
	alarm(10); /* a blocking open would hang here */
	fd = open_regular_beneath(s->fd, "file");
	assert_true(fd >= 0);
	assert_int_equal(open_regular_beneath(s->fd, "fifo"), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(open_regular_beneath(s->fd, "dir"), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(open_regular_beneath(s->fd, "link"), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(open_regular_beneath(s->fd, "none"), -1);
	assert_int_equal(errno, ENOENT);
	alarm(0);
}

static void test_mkdirs(void **state)
{
	struct scratch *s = *state;
	auto_fd a = mkdirs_beneath(s->fd, "a/b//c/", 0700, -1, -1);
	auto_fd again = mkdirs_beneath(s->fd, "a/b/c", 0700, -1, -1);
	auto_fd none = mkdirs_beneath(s->fd, "", 0700, -1, -1);
	struct stat st;

	assert_true(a >= 0 && again >= 0 && none >= 0);
	assert_int_equal(fstatat(s->fd, "a/b/c", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	put(s->fd, "file", "");
	assert_int_equal(symlinkat("a", s->fd, "link"), 0);
	assert_int_equal(mkdirs_beneath(s->fd, "file/x", 0700, -1, -1), -1);
	assert_int_equal(mkdirs_beneath(s->fd, "link/x", 0700, -1, -1), -1);
	assert_false(there(s->fd, "a/x"));
	assert_int_equal(mkdirs_beneath(a, "../x", 0700, -1, -1), -1);
	assert_false(there(s->fd, "a/b/x"));
	if (geteuid() == 0) {
		auto_fd given = mkdirs_beneath(s->fd, "a/given/deep", 0700, 4711, 4712);

		assert_true(given >= 0);
		assert_int_equal(fstatat(s->fd, "a/given", &st, 0), 0);
		assert_int_equal(st.st_uid, 4711);
		assert_int_equal(st.st_gid, 4712);
		assert_int_equal(fstatat(s->fd, "a", &st, 0), 0);
		assert_int_equal(st.st_uid, 0);
	}
}

static void test_read_limits(void **state)
{
	struct scratch *s = *state;
	auto_buf small = BUF_INIT(4), exact = BUF_INIT(5);
	struct err e = ERR_INIT;

	put(s->fd, "file", "12345");
	assert_int_equal(read_file(s->fd, "file", &exact, &e), 0);
	assert_string_equal(buf_str(&exact), "12345");
	assert_int_equal(read_file(s->fd, "file", &small, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_int_equal(read_file(s->fd, "none", &exact, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(read_file(s->fd, "file/x", &exact, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	/* nobody writes to it: a reader would wait without end */
	assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
	assert_int_equal(read_file(s->fd, "fifo", &exact, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
}

static void test_full_over_a_pipe(void **state)
{
	char *data = xcalloc(1, 300000), *back = xcalloc(1, 300000);
	int p[2], status;
	pid_t pid;

	(void)state;
	for (int i = 0; i < 300000; i++)
		data[i] = (char)(i * 7);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		_exit(write_full(p[1], data, 300000) < 0);
	close(p[1]);
	assert_int_equal(read_full(p[0], back, 100), 100);
	assert_int_equal(read_full(p[0], back + 100, 300000), 299900);
	assert_memory_equal(data, back, 300000);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(p[0]);
	free(data);
	free(back);
}

static void test_write_file_replaces(void **state)
{
	struct scratch *s = *state;
	auto_str stale = xasprintf("f.new.%d", (int)getpid());
	struct err e = ERR_INIT;
	struct stat old, new;

	put(s->fd, "other", "other");
	assert_int_equal(symlinkat("other", s->fd, "f"), 0);
	put(s->fd, stale, "left behind by a process that died");
	assert_int_equal(write_file(s->fd, "f", "new\0x", 5, 0640, &e), 0);
	assert_content(s->fd, "other", "other");
	assert_int_equal(fstatat(s->fd, "f", &old, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(old.st_mode));
	assert_int_equal(old.st_size, 5);
	assert_int_equal(write_file(s->fd, "f", "again", 5, 0600, &e), 0);
	assert_content(s->fd, "f", "again");
	assert_int_equal(fstatat(s->fd, "f", &new, 0), 0);
	assert_false(there(s->fd, stale));
	assert_int_equal(write_file(s->fd, "none/f", "x", 1, 0600, &e), -1);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(mkdirat(s->fd, "dir", 0700), 0);
	assert_int_equal(write_file(s->fd, "dir", "x", 1, 0600, &e), -1);
}

static void assert_copies(int from, int to_dir, const char *name, const char *want)
{
	auto_fd to = openat(to_dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct err e = ERR_INIT;

	assert_int_equal(copy_fd(from, to, &e), 0);
	assert_content(to_dir, name, want);
}

static void test_copy(void **state)
{
	struct scratch *s = *state;
	auto_fd file = -1, mem = fd_of_bytes("m", "memory", 6), sparse = -1, copy = -1;
	struct stat st;
	struct err e = ERR_INIT;
	char c = 0;

	put(s->fd, "from", "contents");
	file = openat(s->fd, "from", O_RDONLY | O_CLOEXEC);
	assert_copies(file, s->fd, "to1", "contents");
	assert_copies(mem, s->fd, "to2", "memory");
	/* a sparse file of a terabyte with one byte in it stays small */
	sparse = openat(s->fd, "sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	copy = openat(s->fd, "to3", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(sparse, 1ll << 40), 0);
	assert_int_equal(pwrite(sparse, "x", 1, 1ll << 39), 1);
	assert_int_equal(copy_fd(sparse, copy, &e), 0);
	assert_int_equal(fstat(copy, &st), 0);
	assert_true(st.st_size == 1ll << 40 && st.st_blocks < 1024);
	assert_int_equal(pread(copy, &c, 1, 1ll << 39), 1);
	assert_int_equal(c, 'x');
}

static void test_bytes_and_nonblock(void **state)
{
	auto_fd fd = fd_of_bytes("x", "a\0b", 3);
	char back[4];
	int p[2];

	(void)state;
	assert_int_equal(read_full(fd, back, 4), 3);
	assert_memory_equal(back, "a\0b", 3);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fd_nonblock(p[0]), 0);
	assert_int_equal(read(p[0], back, 1), -1);
	assert_int_equal(errno, EAGAIN);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steal_and_close),
		scratch_test(test_beneath),
		scratch_test(test_regular_only),
		scratch_test(test_mkdirs),
		scratch_test(test_read_limits),
		cmocka_unit_test(test_full_over_a_pipe),
		scratch_test(test_write_file_replaces),
		scratch_test(test_copy),
		cmocka_unit_test(test_bytes_and_nonblock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
