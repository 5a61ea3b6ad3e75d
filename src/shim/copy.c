#include "shim/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fault.h"
#include "sys/fd.h"

#define DEPTH       200
#define BUCKETS     4096
#define XATTR_LIST  (64u << 10)
#define XATTR_VALUE (64u << 10)

/* A file with several names, and its first copy. */
struct linked {
	struct linked *next;
	dev_t dev;
	ino_t ino;
	char *path; /* beneath the root of the copy */
};

struct copying {
	int root; /* the root of the copy */
	struct linked *buckets[BUCKETS];
};

static struct linked **find_linked(struct copying *c, const struct stat *st)
{
	struct linked **l = &c->buckets[st->st_ino % BUCKETS];

	while (*l && ((*l)->ino != st->st_ino || (*l)->dev != st->st_dev))
		l = &(*l)->next;
	return l;
}

static void remember(struct copying *c, const struct stat *st, const char *path)
{
	struct linked **l = find_linked(c, st), *n = xcalloc(1, sizeof(*n));

	*n = (struct linked){ .dev = st->st_dev, .ino = st->st_ino, .path = xstrdup(path) };
	*l = n;
}

static void forget(struct copying *c)
{
	for (size_t i = 0; i < BUCKETS; i++)
		while (c->buckets[i]) {
			struct linked *l = c->buckets[i];

			c->buckets[i] = l->next;
			free(l->path);
			free(l);
		}
}

/* An attribute that the file system does not support is skipped, but a full disk is an error. */
static int copy_xattrs(int from, int to)
{
	auto_str names = xcalloc(1, XATTR_LIST), value = xcalloc(1, XATTR_VALUE);
	ssize_t n = flistxattr(from, names, XATTR_LIST), len;

	for (const char *s = names; n > 0 && s < names + n; s += strlen(s) + 1) {
		if (strncmp(s, "user.", 5) != 0 || (len = fgetxattr(from, s, value, XATTR_VALUE)) < 0)
			continue;
		if (fsetxattr(to, s, value, (size_t)len, 0) < 0 && (errno == ENOSPC || errno == EDQUOT))
			return -1;
	}
	return 0;
}

/* Attributes, then mode, then times: each call can change what a later one sets. */
static int copy_meta(int from, int to, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	if (copy_xattrs(from, to) < 0 || fchmod(to, st->st_mode & 07777) < 0)
		return -1;
	return futimens(to, times);
}

static int copy_file(int from_dir, int to_dir, const char *name, const struct stat *st)
{
	auto_fd from = openat(from_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	auto_fd to = -1;
	struct err e = ERR_INIT;

	if (from < 0)
		return -1;
	to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0)
		return -1;
	if (copy_fd(from, to, &e) < 0) {
		errno = e.sys ? e.sys : EIO;
		return -1;
	}
	return copy_meta(from, to, st);
}

static int copy_link(int from_dir, int to_dir, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target) - 1);

	if (n < 0 || n == sizeof(target) - 1)
		return -1;
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) < 0)
		return -1;
	return utimensat(to_dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_fifo(int to_dir, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	if (mkfifoat(to_dir, name, 0600) < 0 || fchmodat(to_dir, name, st->st_mode & 07777, 0) < 0)
		return -1;
	return utimensat(to_dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_content(struct copying *c, int from, int to, const char *path, int depth);

static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int copy_dir(
	struct copying *c, int from_dir, int to_dir, const char *name, const char *path, int depth)
{
	auto_fd from = open_dir(from_dir, name), to = -1;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0 || mkdirat(to_dir, name, 0700) < 0)
		return -1;
	if (depth > DEPTH) {
		errno = ELOOP;
		return -1;
	}
	to = open_dir(to_dir, name);
	if (to < 0 || copy_content(c, from, to, path, depth + 1) < 0)
		return -1;
	return copy_meta(from, to, &st);
}

static int copy_entry(struct copying *c, int from, int to, const char *name, const char *path, int depth)
{
	struct linked *known;
	struct stat st;
	int rc;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return copy_dir(c, from, to, name, path, depth);
	known = st.st_nlink > 1 ? *find_linked(c, &st) : NULL;
	if (known)
		return linkat(c->root, known->path, to, name, 0);
	if (S_ISREG(st.st_mode))
		rc = copy_file(from, to, name, &st);
	else if (S_ISLNK(st.st_mode))
		rc = copy_link(from, to, name, &st);
	else if (S_ISFIFO(st.st_mode))
		rc = copy_fifo(to, name, &st);
	else
		errno = EOPNOTSUPP, rc = -1;
	if (!rc && st.st_nlink > 1)
		remember(c, &st, path);
	return rc;
}

static DIR *read_dir(int dir)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);

	if (!d)
		fd_closep(&again);
	return d;
}

/* The next name that is not "." or ".."; NULL with errno 0 at the end. */
static const char *next_name(DIR *d)
{
	struct dirent *ent;

	do {
		errno = 0;
		ent = readdir(d);
	} while (ent && (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..")));
	return ent ? ent->d_name : NULL;
}

static void close_dir(DIR *d)
{
	int kept = errno;

	closedir(d);
	errno = kept;
}

static int copy_content(struct copying *c, int from, int to, const char *path, int depth)
{
	DIR *d = read_dir(from);
	const char *name;
	int rc = 0;

	if (!d)
		return -1;
	while (!rc && (name = next_name(d))) {
		auto_str below = *path ? path_join(path, name) : xstrdup(name);

		rc = copy_entry(c, from, to, name, below, depth);
	}
	if (!rc && errno)
		rc = -1;
	close_dir(d);
	return rc;
}

static int copy_all(int parent, const char *name, const char *as)
{
	auto_fd from = open_dir(parent, name), to = open_dir(parent, as);
	struct copying *c = xcalloc(1, sizeof(*c));
	struct stat st;
	int rc = -1;

	c->root = to;
	if (from >= 0 && to >= 0 && !fstat(from, &st) && !copy_content(c, from, to, "", 0))
		rc = copy_meta(from, to, &st);
	forget(c);
	free(c);
	return rc;
}

int copy_tree(int parent, const char *name, const char *as)
{
	int kept;

	if (mkdirat(parent, as, 0700) < 0)
		return -1;
	if (!copy_all(parent, name, as))
		return 0;
	kept = errno;
	copy_remove(parent, as);
	errno = kept;
	return -1;
}

/* Removing a directory's entries needs the right to write in it. */
static void make_writable(int dir)
{
	struct stat st;

	if (!fstat(dir, &st) && (st.st_mode & 0700) != 0700)
		fchmod(dir, (st.st_mode & 07777) | 0700);
}

int copy_remove(int parent, const char *name)
{
	auto_fd dir = -1;
	const char *below;
	int rc = 0;
	DIR *d;

	if (!unlinkat(parent, name, 0) || errno == ENOENT) {
		fault("mv-removing");
		return 0;
	}
	if (errno != EISDIR && errno != EPERM)
		return -1;
	dir = open_dir(parent, name);
	if (dir < 0)
		return -1;
	make_writable(dir);
	d = read_dir(dir);
	if (!d)
		return -1;
	while (!rc && (below = next_name(d)))
		rc = copy_remove(dir, below);
	if (!rc && errno)
		rc = -1;
	close_dir(d);
	return rc < 0 ? -1 : unlinkat(parent, name, AT_REMOVEDIR);
}

static int put_back_dir(int copy_dir, const char *as, int to_dir, const char *name);

static int put_back_content(int copy, int to)
{
	DIR *d = read_dir(copy);
	const char *name;
	struct stat st;
	int rc = 0;

	if (!d)
		return -1;
	while (!rc && (name = next_name(d))) {
		if (fstatat(copy, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			rc = -1;
		else if (S_ISDIR(st.st_mode))
			rc = put_back_dir(copy, name, to, name);
		else if (faccessat(to, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			rc = renameat(copy, name, to, name);
	}
	if (!rc && errno)
		rc = -1;
	close_dir(d);
	return rc;
}

/* Restores a directory: all of it if it is gone, else the entries that are missing. */
static int put_back_dir(int copy_dir, const char *as, int to_dir, const char *name)
{
	auto_fd copy = open_dir(copy_dir, as), to = -1;
	struct stat st;

	if (copy < 0 || fstat(copy, &st) < 0)
		return -1;
	make_writable(copy);
	if (faccessat(to_dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return renameat(copy_dir, as, to_dir, name) < 0 ? -1 : fchmod(copy, st.st_mode & 07777);
	to = open_dir(to_dir, name);
	if (to < 0)
		return -1;
	make_writable(to);
	return put_back_content(copy, to) < 0 ? -1 : copy_meta(copy, to, &st);
}

int copy_put_back(int parent, const char *name, const char *copy)
{
	if (put_back_dir(parent, copy, parent, name) < 0)
		return -1;
	return copy_remove(parent, copy);
}
