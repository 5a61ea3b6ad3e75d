#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/alloc.h"
#include "base/strvec.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define NAMES_MAX (64 << 10)
#define VALUE_MAX (64 << 10)

/* A file with more than one name, and its first name in the archive. */
struct linked {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct pack {
	struct archive *out;
	void *links;          /* a tree of struct linked */
	struct strvec opened; /* directories that were made readable: "0000PATH" */
};

static int by_inode(const void *a, const void *b)
{
	const struct linked *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->dev < y->dev ? -1 : x->dev > y->dev;
}

static void free_linked(void *p)
{
	struct linked *l = p;

	free(l->path);
	free(l);
}

/* The name under which the file is already in the archive; NULL if this is its first. */
static const char *first_name(struct pack *p, const struct tree_entry *t)
{
	struct linked *l, **found;

	if (S_ISDIR(t->st.st_mode) || t->st.st_nlink < 2)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	*l = (struct linked){ t->st.st_dev, t->st.st_ino, xstrdup(t->path) };
	found = tsearch(l, &p->links, by_inode);
	if (found && *found == l)
		return NULL;
	free_linked(l);
	return found ? (*found)->path : NULL;
}

static int failed(struct archive *a, const char *path, struct err *e)
{
	const char *why = archive_error_string(a);

	return err_set(
		e, ERR_FAILED, "cannot pack '%s': %s", path, why ? why : "it does not fit into the format");
}

/* Opens an entry for reading, whatever its mode is. A file's mode is restored at once, a directory's after
 * packing. */
static int open_readable(struct pack *p, const struct tree_entry *t, int flags)
{
	int fd = open_beneath(t->dir, t->name, O_RDONLY | flags, 0);

	if (fd >= 0 || errno != EACCES || fchmodat(t->dir, t->name, (t->st.st_mode & 07777) | 0500, 0) < 0)
		return fd;
	fd = open_beneath(t->dir, t->name, O_RDONLY | flags, 0);
	if (S_ISDIR(t->st.st_mode))
		strvec_pushf(&p->opened, "%04o%s", t->st.st_mode & 07777, t->path);
	else if (fd >= 0)
		fchmod(fd, t->st.st_mode & 07777);
	return fd;
}

/* The innermost first, while the directories above are still open. */
static void restore_modes(const struct pack *p, int root)
{
	for (size_t i = p->opened.n; i-- > 0;) {
		auto_fd fd = open_beneath(root, p->opened.v[i] + 4, O_PATH | O_DIRECTORY, 0);
		char path[40];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		p->opened.v[i][4] = '\0';
		if (fd >= 0)
			chmod(path, (mode_t)strtoul(p->opened.v[i], NULL, 8));
	}
}

static void add_xattrs(struct archive_entry *ent, int fd)
{
	char names[NAMES_MAX];
	ssize_t len = flistxattr(fd, names, sizeof(names));

	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1) {
		char value[VALUE_MAX];
		ssize_t n = strncmp(names + at, "user.", 5) ? -1
							    : fgetxattr(fd, names + at, value, sizeof(value));

		if (n >= 0)
			archive_entry_xattr_add_entry(ent, names + at, value, (size_t)n);
	}
}

/* Stores the file's holes, so that they take no space after unpacking either. Few blocks alone prove nothing,
 * because a file system may compress. libarchive drops a single extent that covers the whole file, so this
 * counts extents. */
static void add_holes(struct archive_entry *ent, const struct tree_entry *t, int fd)
{
	off_t size = t->st.st_size, data = 0, hole = 0;
	size_t extents = 0;

	if ((off_t)t->st.st_blocks * 512 >= size)
		return;
	while (hole < size && (data = lseek(fd, hole, SEEK_DATA)) >= 0 && data < size) {
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0 || hole > size)
			hole = size;
		archive_entry_sparse_add_entry(ent, data, hole - data);
		extents++;
	}
	/* ENXIO: only a hole follows; with any other error no holes are stored */
	if (data < 0 && errno != ENXIO)
		archive_entry_sparse_clear(ent);
	else if (data < 0 && !extents)
		archive_entry_sparse_add_entry(ent, 0, 0);
	lseek(fd, 0, SEEK_SET);
}

static int add_content(struct pack *p, const struct tree_entry *t, int fd, struct err *e)
{
	static char chunk[1 << 16];
	off_t left = t->st.st_size;

	/* if the file shrinks meanwhile, zeros fill the size that is already in the archive */
	while (left > 0) {
		size_t want = left < (off_t)sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t n = read(fd, chunk, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "cannot read '%s'", t->path);
		if (!n)
			memset(chunk, 0, (size_t)(n = (ssize_t)want));
		if (archive_write_data(p->out, chunk, (size_t)n) != n)
			return failed(p->out, t->path, e);
		left -= n;
	}
	return 0;
}

static int put(struct pack *p, const struct tree_entry *t, struct archive_entry *ent, int fd, struct err *e)
{
	if (archive_write_header(p->out, ent) < ARCHIVE_WARN)
		return failed(p->out, t->path, e);
	return fd >= 0 && archive_entry_size(ent) ? add_content(p, t, fd, e) : 0;
}

static int add_link(const struct tree_entry *t, struct archive_entry *ent, struct err *e)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(t->dir, t->name, text, sizeof(text) - 1);

	if (n < 0)
		return err_sys(e, "cannot read '%s'", t->path);
	text[n] = '\0';
	archive_entry_set_symlink(ent, text);
	return 0;
}

static int add(struct pack *p, const struct tree_entry *t, struct archive_entry *ent, struct err *e)
{
	const char *first = first_name(p, t);
	auto_fd fd = -1;

	archive_entry_copy_stat(ent, &t->st);
	archive_entry_set_pathname(ent, t->path);
	if (first) {
		archive_entry_set_hardlink(ent, first);
		archive_entry_set_size(ent, 0);
		return put(p, t, ent, -1, e);
	}
	if (S_ISLNK(t->st.st_mode) && add_link(t, ent, e) < 0)
		return -1;
	if (S_ISREG(t->st.st_mode) || S_ISDIR(t->st.st_mode)) {
		fd = open_readable(p, t, S_ISDIR(t->st.st_mode) ? O_DIRECTORY : O_NONBLOCK);
		if (fd < 0)
			return err_sys(e, "cannot open '%s'", t->path);
		add_xattrs(ent, fd);
		if (S_ISREG(t->st.st_mode))
			add_holes(ent, t, fd);
	}
	return put(p, t, ent, S_ISREG(t->st.st_mode) ? fd : -1, e);
}

/* overlayfs's work directories hold no data: "work", and "caches/NAME/work". */
static bool is_work(const char *path)
{
	const char *rest = strncmp(path, "caches/", 7) ? NULL : strchr(path + 7, '/');

	return !strcmp(rest ? rest + 1 : path, "work");
}

static enum tree_next on_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct archive_entry *ent;
	int rc;

	if (t->closed)
		return err_set(e, ERR_FAILED, "'%s' is too deep to be packed", t->path), TREE_STOP;
	if (S_ISSOCK(t->st.st_mode))
		return TREE_ON;
	ent = archive_entry_new();
	rc = ent ? add(arg, t, ent, e) : err_set(e, ERR_FAILED, "out of memory");
	archive_entry_free(ent);
	if (rc < 0)
		return TREE_STOP;
	return is_work(t->path) ? TREE_SKIP : TREE_ON;
}

static int write_all(struct pack *p, int root, int file, struct err *e)
{
	if (archive_write_add_filter_gzip(p->out) || archive_write_set_format_pax_restricted(p->out) ||
		archive_write_open_fd(p->out, file))
		return failed(p->out, "it", e);
	if (tree_walk(root, on_entry, p, e) < 0)
		return -1;
	return archive_write_close(p->out) ? failed(p->out, "it", e) : 0;
}

int archive_pack(const char *dir, const char *file, struct err *e)
{
	auto_fd root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct pack p = { .out = archive_write_new() };
	int rc = -1;

	if (root < 0 || fd < 0)
		err_sys(e, "cannot open '%s'", root < 0 ? dir : file);
	else if (p.out && !write_all(&p, root, fd, e))
		rc = fsync(fd) < 0 ? err_sys(e, "cannot write '%s'", file) : 0;
	restore_modes(&p, root);
	strvec_release(&p.opened);
	archive_write_free(p.out);
	tdestroy(p.links, free_linked);
	if (rc < 0 && fd >= 0)
		unlink(file);
	return rc;
}
