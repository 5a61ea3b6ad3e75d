#include "sys/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

#define ROOM_FILES 65536

void fd_closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

int fd_steal(int *fd)
{
	int n = *fd;

	*fd = -1;
	return n;
}

int open_beneath(int dir, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
	};
	unsigned tries = 0;
	long fd;

	/* EAGAIN: a rename disturbed the lookup, which is over soon; or a process inside holds a lease on the
	 * file, which may last */
	do
		fd = syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 64)));
	return (int)fd;
}

int open_regular_beneath(int dir, const char *path)
{
	auto_fd fd = open_beneath(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return fd_steal(&fd);
}

int lstat_beneath(int dir, const char *path, struct stat *st)
{
	auto_fd fd = open_beneath(dir, path, O_PATH, 0);

	return fd < 0 ? -1 : fstat(fd, st);
}

int mkdirs_beneath(int dir, const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	auto_fd at = open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	auto_str copy = xstrdup(path);
	char *save = NULL;

	for (char *part = strtok_r(copy, "/", &save); part && at >= 0; part = strtok_r(NULL, "/", &save)) {
		bool made = !mkdirat(at, part, mode);
		int next;

		if (!made && errno != EEXIST)
			return -1;
		next = open_beneath(at, part, O_RDONLY | O_DIRECTORY, 0);
		if (next >= 0 && made && uid != (uid_t)-1 && fchown(next, uid, gid) < 0) {
			close(next);
			return -1;
		}
		close(at);
		at = next;
	}
	return fd_steal(&at);
}

/* A kernel that is given megabytes at once looks for pages as large, which takes several times as long as the writing. */
#define WRITE_STEP ((size_t)256 << 10)

int write_full(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len < WRITE_STEP ? len : WRITE_STEP);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t read_full(int fd, void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, (char *)data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* The step for files that report no size, such as those in /proc. */
#define READ_STEP 16384u

int read_rest(int fd, struct buf *out, const char *what, struct err *e)
{
	size_t step = READ_STEP;
	struct stat st;

	/* reserves everything at once; the extra byte finds the end of the file without growing again */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
		(uint64_t)st.st_size < out->max - out->len && buf_reserve(out, (size_t)st.st_size + 1))
		step = 1;
	for (;;) {
		size_t left = out->data ? out->cap - out->len - 1 : 0;
		size_t room = left >= step ? left : READ_STEP;
		char *at = buf_reserve(out, room < out->max - out->len ? room : out->max - out->len);
		char probe;
		ssize_t n;

		/* a full buffer is fine if the file ends exactly here */
		if (out->len == out->max)
			n = read(fd, &probe, 1);
		else
			n = read(fd, at, room < out->max - out->len ? room : out->max - out->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "cannot read %s", what);
		if (!n)
			return 0;
		if (out->len == out->max)
			return err_set(e, ERR_FAILED, "%s is larger than %zu bytes", what, out->max);
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
}

int read_file(int dir, const char *path, struct buf *out, struct err *e)
{
	auto_fd fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, "cannot open '%s'", path);
		if (e->sys == ENOENT || e->sys == ENOTDIR)
			e->kind = ERR_NOTFOUND;
		return -1;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(e, ERR_REFUSED, "'%s' is not a regular file", path);
	/* for a directory this is EISDIR */
	return read_rest(fd, out, path, e);
}

int write_file(int dir, const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
	auto_str tmp = xasprintf("%s.new.%d", path, (int)getpid());
	auto_fd fd = -1;

	/* left by a process with the same pid that died */
	unlinkat(dir, tmp, 0);
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return err_sys(e, "cannot write '%s'", path);
	if (write_full(fd, data, len) < 0 || renameat(dir, tmp, dir, path) < 0) {
		err_sys(e, "cannot write '%s'", path);
		unlinkat(dir, tmp, 0);
		return -1;
	}
	return 0;
}

/* Copies up to len bytes from offset `at`, inside the kernel if it can, else with read and write. */
static int copy_range(int from, int to, off_t at, uint64_t len)
{
	off_t out = at;
	char chunk[65536];

	while (len) {
		ssize_t n = copy_file_range(from, &at, to, &out, len < 1u << 30 ? len : 1u << 30, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len -= (uint64_t)n;
	}
	while (len) {
		ssize_t n = pread(from, chunk, len < sizeof(chunk) ? (size_t)len : sizeof(chunk), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		if (lseek(to, at, SEEK_SET) < 0 || write_full(to, chunk, (size_t)n) < 0)
			return -1;
		at += n;
		len -= (uint64_t)n;
	}
	return 0;
}

int copy_fd(int from, int to, struct err *e)
{
	struct stat st;
	off_t at = 0, end;

	if (!ioctl(to, FICLONE, from))
		return 0;
	if (fstat(from, &st) < 0)
		return err_sys(e, "cannot copy");
	/* a sparse file of a terabyte must not take a terabyte in the copy */
	while (at < st.st_size) {
		off_t data = lseek(from, at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			data = at;
		end = lseek(from, data, SEEK_HOLE);
		if (end < 0 || end > st.st_size)
			end = st.st_size;
		if (end <= data)
			break;
		if (copy_range(from, to, data, (uint64_t)(end - data)) < 0)
			return err_sys(e, "cannot copy");
		at = end;
	}
	return ftruncate(to, st.st_size) < 0 ? err_sys(e, "cannot copy") : 0;
}

int copy_part(int from, int to, uint64_t len)
{
	char chunk[65536];

	while (len) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, len, 0);

		if (n <= 0)
			break;
		len -= (uint64_t)n;
	}
	/* the file systems cannot do it: read and write from where it stopped */
	while (len) {
		size_t want = len < sizeof(chunk) ? (size_t)len : sizeof(chunk);
		ssize_t n = read(from, chunk, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (!n)
			errno = EIO;
		if (n <= 0 || write_full(to, chunk, (size_t)n) < 0)
			return -1;
		len -= (uint64_t)n;
	}
	return 0;
}

int fd_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int fd_of_bytes(const char *name, const void *data, size_t len)
{
	auto_fd fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || write_full(fd, data, len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return fd_steal(&fd);
}

void fd_make_room(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= ROOM_FILES)
		return;
	l.rlim_cur = l.rlim_max < ROOM_FILES ? l.rlim_max : ROOM_FILES;
	setrlimit(RLIMIT_NOFILE, &l);
}
