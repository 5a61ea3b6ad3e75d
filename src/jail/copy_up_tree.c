#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "jail/copy_up_parts.h"
#include "sys/dir.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define DEPTH_MAX   200
#define XATTR_LIST  (64u << 10)
#define XATTR_VALUE (64u << 10)

/* A file with several names, as the overlay showed it before it was linked, and its first copy. */
struct linked {
	struct linked *next;
	dev_t dev;
	ino_t ino;
	char path[]; /* beneath the root of the copy */
};

static struct linked *find_linked(const struct tree_copy *t, const struct stat *st)
{
	struct linked *l = st->st_nlink > 1 ? t->linked[st->st_ino % LINKED_BUCKETS] : NULL;

	while (l && (l->ino != st->st_ino || l->dev != st->st_dev))
		l = l->next;
	return l;
}

/* Without memory, or if the path is too long, the names become separate files. */
static void remember(struct tree_copy *t, const struct stat *st, const char *name)
{
	struct linked **bucket = &t->linked[st->st_ino % LINKED_BUCKETS], *l;
	size_t size = t->len + strlen(name) + 1;

	if (st->st_nlink < 2 || size > PATH_MAX || find_linked(t, st) || !(l = malloc(sizeof(*l) + size)))
		return;
	*l = (struct linked){ *bucket, st->st_dev, st->st_ino };
	snprintf(l->path, size, "%.*s%s", (int)t->len, t->path, name);
	*bucket = l;
}

void tree_copy_release(struct tree_copy *t)
{
	for (size_t i = 0; i < LINKED_BUCKETS; i++)
		while (t->linked[i]) {
			struct linked *l = t->linked[i];

			t->linked[i] = l->next;
			free(l);
		}
}

/* Appends a name to the current directory; returns its length before. A path that is too long has the length
 * PATH_MAX. */
static size_t path_push(struct tree_copy *t, const char *name)
{
	size_t before = t->len, n = strlen(name) + 1;

	if (before + n < PATH_MAX) {
		snprintf(t->path + before, n + 1, "%s/", name);
		t->len = before + n;
	} else {
		t->len = PATH_MAX;
	}
	return before;
}

int tree_open(int dir, const char *name)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

static DIR *read_dir(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		fd_closep(&fd);
	return d;
}

/* The next name that is not "." or ".."; NULL with errno 0 at the end. */
static const char *next_name(DIR *d)
{
	struct dirent *ent;

	do {
		errno = 0;
		ent = readdir(d);
	} while (ent && dir_is_dot(ent->d_name));
	return ent ? ent->d_name : NULL;
}

/* An attribute that the file system does not support is skipped, but a full disk is an error. */
static int copy_xattrs(int from, int to)
{
	char *names = malloc(XATTR_LIST + XATTR_VALUE), *value = names + XATTR_LIST;
	ssize_t n = names ? flistxattr(from, names, XATTR_LIST) : -1, len;
	int rc = 0;

	for (const char *s = names; !rc && n > 0 && s < names + n; s += strlen(s) + 1) {
		len = fgetxattr(from, s, value, XATTR_VALUE);
		if (len >= 0 && fsetxattr(to, s, value, (size_t)len, 0) < 0 &&
			(errno == ENOSPC || errno == EDQUOT))
			rc = -1;
	}
	free(names);
	return rc;
}

/* Attributes, then mode, then times: each call can change what a later one sets. The filter refuses setuid. */
int tree_copy_meta(int from, int to, const struct stat *st, bool writable)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	if (copy_xattrs(from, to) < 0 || fchmod(to, (st->st_mode & 03777) | (writable ? 0700 : 0)) < 0)
		return -1;
	return futimens(to, times);
}

void tree_make_writable(int dir)
{
	struct stat st;

	if (!fstat(dir, &st) && (st.st_mode & 0700) != 0700)
		fchmod(dir, (st.st_mode & 03777) | 0700);
}

static int link_dir(struct tree_copy *t, int from_dir, int to_dir, const char *name)
{
	auto_fd from = tree_open(from_dir, name), to = -1;
	size_t before = path_push(t, name);
	struct stat st;
	int rc = -1;

	if (++t->depth > DEPTH_MAX)
		errno = ENAMETOOLONG;
	else if (from >= 0 && !fstat(from, &st) && !mkdirat(to_dir, name, 0700) &&
		 (to = tree_open(to_dir, name)) >= 0 && !tree_link(t, from, to))
		rc = tree_copy_meta(from, to, &st, false);
	t->depth--;
	t->len = before;
	return rc;
}

/* A name that is gone meanwhile is skipped. */
static int link_entry(struct tree_copy *t, int from, int to, const char *name)
{
	const struct linked *known;
	struct stat st;

	if (t->goes_on && !t->goes_on(t->arg)) {
		errno = ECANCELED;
		return -1;
	}
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISDIR(st.st_mode))
		return link_dir(t, from, to, name);
	known = find_linked(t, &st);
	if (known && !linkat(t->root, known->path, to, name, 0))
		return 0;
	if (linkat(from, name, to, name, 0) < 0)
		return errno == ENOENT ? 0 : -1;
	remember(t, &st, name);
	fault("rename-linking");
	return 0;
}

int tree_link(struct tree_copy *t, int from, int to)
{
	auto_dir d = read_dir(from);
	const char *name;

	if (!d)
		return -1;
	while ((name = next_name(d)))
		if (link_entry(t, from, to, name) < 0)
			return -1;
	return errno ? -1 : 0;
}

/* Whether two names are of one file. The overlay may show different inode numbers for them: that of the lower
 * layer for the name that was there, that of the upper layer for the new one. */
static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_nlink > 1 && a->st_nlink == b->st_nlink && a->st_mode == b->st_mode &&
	       a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int remove_any(int dir, const char *name)
{
	struct err e = ERR_INIT;

	if (tree_remove(dir, name, &e) < 0) {
		errno = e.sys ? e.sys : EBUSY;
		return -1;
	}
	return 0;
}

/* If in doubt, the copy gets a link again: this is right for the same file too. */
static int empty_file(struct tree_copy *t, int from, int copy, const char *name, const struct stat *st)
{
	struct stat has;
	bool there = !fstatat(copy, name, &has, AT_SYMLINK_NOFOLLOW);

	if (!there || (!same_file(st, &has) && !find_linked(t, st)))
		if ((there && remove_any(copy, name) < 0) || linkat(from, name, copy, name, 0) < 0)
			return errno == ENOENT ? 0 : -1;
	if (unlinkat(from, name, 0) < 0 && errno != ENOENT)
		return -1;
	fault("rename-emptying");
	return 0;
}

/* Opens the copy's directory, after making it if the directory was added meanwhile. */
static int copy_of_dir(int copy, const char *name, int from, const struct stat *st)
{
	auto_fd to = tree_open(copy, name);

	if (to >= 0)
		return fd_steal(&to);
	if ((errno == ENOTDIR || errno == ELOOP) && unlinkat(copy, name, 0) < 0)
		return -1;
	if (mkdirat(copy, name, 0700) < 0 || (to = tree_open(copy, name)) < 0 ||
		tree_copy_meta(from, to, st, true) < 0)
		return -1;
	return fd_steal(&to);
}

static int empty_dir(struct tree_copy *t, int from_dir, int copy_dir, const char *name, const struct stat *st)
{
	auto_fd from = tree_open(from_dir, name), copy = -1;
	int rc = -1;

	if (from < 0)
		return -1;
	copy = copy_of_dir(copy_dir, name, from, st);
	if (copy < 0)
		return -1;
	if (++t->depth > DEPTH_MAX)
		errno = ENAMETOOLONG;
	else
		rc = tree_empty(t, from, copy);
	t->depth--;
	return rc < 0 ? -1 : unlinkat(from_dir, name, AT_REMOVEDIR);
}

static int empty_entry(struct tree_copy *t, int from, int copy, const char *name)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	return S_ISDIR(st.st_mode) ? empty_dir(t, from, copy, name, &st)
				   : empty_file(t, from, copy, name, &st);
}

int tree_empty(struct tree_copy *t, int from, int copy)
{
	auto_dir d = NULL;
	const char *name;

	tree_make_writable(from);
	d = read_dir(from);
	if (!d)
		return -1;
	while ((name = next_name(d)))
		if (empty_entry(t, from, copy, name) < 0)
			return -1;
	return errno ? -1 : 0;
}

static int restore_entry(int copy, int to, const char *name)
{
	auto_fd sub = -1, to_sub = -1;
	struct stat st;

	if (fstatat(copy, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return linkat(copy, name, to, name, 0) < 0 && errno != EEXIST ? -1 : 0;
	if (mkdirat(to, name, 0700) < 0 && errno != EEXIST)
		return -1;
	sub = tree_open(copy, name);
	to_sub = tree_open(to, name);
	return sub < 0 || to_sub < 0 ? -1 : tree_restore(sub, to_sub);
}

int tree_restore(int copy, int to)
{
	auto_dir d = read_dir(copy);
	const char *name;
	struct stat st;

	if (!d || fstat(copy, &st) < 0)
		return -1;
	tree_make_writable(to);
	while ((name = next_name(d)))
		if (restore_entry(copy, to, name) < 0)
			return -1;
	return errno ? -1 : tree_copy_meta(copy, to, &st, false);
}
