/*
 * Files that git stores with other bytes than the workspace has: with converted line ends, without the value of
 * $Id$, in another encoding. git converts them here as `git add` would inside, by the workspace's attributes. These
 * choose among git's own conversions only: the scratch repository has no filters. They are not in force when git
 * compares files for a reviewer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/lfs.h"
#include "git/scratch_parts.h"
#include "sys/fault.h"
#include "sys/fd.h"

static const char *const asked[] = { "text", "crlf", "eol", "ident", "working-tree-encoding", "filter" };

/* The repository's own attributes are in force from here to own_attributes(s, false). */
static void own_attributes(const struct scratch *s, bool on)
{
	auto_str apart = path_join(s->dir, SCRATCH_ATTRIBUTES), used = path_join(s->dir, "info/attributes");

	(void)!rename(on ? apart : used, on ? used : apart);
}

static struct git convert_git(const struct scratch *s, const char *root, const char *index)
{
	struct git g = scratch_git(s);

	g.work_tree = root;
	g.cwd = root;
	g.index = index;
	return g;
}

static unsigned form_of(const char *attribute, const char *value)
{
	if (!strcmp(value, "unspecified") || !strcmp(value, "unset"))
		return 0;
	if (!strcmp(attribute, "filter"))
		return strcmp(value, LFS_FILTER) ? 0 : SCRATCH_LFS;
	if (!strcmp(attribute, "ident"))
		return SCRATCH_IDENT;
	return strcmp(attribute, "working-tree-encoding") ? SCRATCH_LINE_ENDS : SCRATCH_CODED;
}

/* "path\0attribute\0value\0" for each path and attribute, in the order of the question. */
static int read_forms(const struct buf *out, size_t n, unsigned *ret, struct err *e)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		ret[i] = 0;
		for (size_t k = 0; k < ARRAY_SIZE(asked); k++) {
			const char *part[3];

			for (size_t p = 0; p < ARRAY_SIZE(part); p++) {
				if (at >= out->len)
					return err_set(e, ERR_FAILED, "cannot understand git check-attr");
				part[p] = out->data + at;
				at += strlen(part[p]) + 1;
			}
			ret[i] |= form_of(part[1], part[2]);
		}
	}
	return 0;
}

int scratch_attributes(struct scratch *s, const struct strvec *paths, unsigned *ret, struct err *e)
{
	auto_str root = path_join(s->dir, "wt");
	auto_buf input = BUF_INIT(64 << 20), out = BUF_INIT(512u << 20);
	unsigned seconds = fault_short("attributes", SCRATCH_ATTRIBUTES_SECONDS);
	struct git g = convert_git(s, root, NULL);
	auto_strvec args = STRVEC_INIT;
	int rc;

	for (size_t i = 0; i < paths->n; i++)
		buf_add(&input, paths->v[i], strlen(paths->v[i]) + 1);
	if (!paths->n || input.overflow)
		return paths->n ? err_set(e, ERR_FAILED, "too many files changed") : 0;
	if (g.seconds > seconds)
		g.seconds = seconds;
	strvec_pushl(&args, "check-attr", "-z", "--stdin", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
		strvec_push(&args, asked[i]);
	own_attributes(s, true);
	rc = git_run(&g, &args, &input, &out, e);
	own_attributes(s, false);
	return rc < 0 ? -1 : read_forms(&out, paths->n, ret, e);
}

/* Whether the content has something that git would convert. */
static bool has_any(int fd, uint64_t size, unsigned form)
{
	char chunk[65536];
	uint64_t at = 0;
	ssize_t n;

	if (form & SCRATCH_CODED)
		return true;
	while (at < size && (n = pread(fd, chunk, sizeof(chunk), (off_t)at)) > 0) {
		if (((form & SCRATCH_LINE_ENDS) && memchr(chunk, '\r', (size_t)n)) ||
			((form & SCRATCH_IDENT) && memchr(chunk, '$', (size_t)n)))
			return true;
		at += (uint64_t)n;
	}
	return false;
}

static int copy_in(const struct scratch *s, const char *path, bool executable, int fd, uint64_t size)
{
	auto_str root = path_join(s->dir, "wt"), parent = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), to = -1,
		dir = top < 0 ? -1 : mkdirs_beneath(top, parent, 0700, (uid_t)-1, (gid_t)-1);

	if (dir < 0)
		return -1;
	/* an attribute file is there already */
	unlinkat(dir, path_base(path), 0);
	to = openat(dir, path_base(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		executable ? 0700 : 0600);
	return to < 0 || copy_part(fd, to, size) < 0 ? -1 : 0;
}

int scratch_convert(struct scratch *s, const char *path, bool executable, unsigned form, int fd,
	uint64_t size, struct err *e)
{
	struct lfs_pointer p;

	if ((form & SCRATCH_LFS) && lfs_of_file(fd, &p)) {
		auto_buf text = BUF_SMALL;

		lfs_print(&p, &text);
		return scratch_bytes(s, path, executable, text.data, text.len, e);
	}
	if ((form & ~SCRATCH_LFS) && has_any(fd, size, form) && !copy_in(s, path, executable, fd, size)) {
		strvec_push(&s->converted, path);
		if (executable)
			strvec_push(&s->executable, path);
		return 0;
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "cannot read '%s'", path);
	return scratch_file(s, path, executable, fd, size, e);
}

/* git makes the objects, with an index of the base: whether it converts line ends depends on the old content too. */
static int make_objects(struct scratch *s, const struct buf *paths, struct buf *out, struct err *e)
{
	auto_str root = path_join(s->dir, "wt"), index = path_join(s->dir, "index");
	struct git g = convert_git(s, root, index);
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "-c", "core.safecrlf=false", "update-index", "--add", "--replace", "-z",
		"--stdin", NULL);
	if (git_do(&g, NULL, e, "read-tree", "--end-of-options", s->base, NULL) < 0 ||
		git_run(&g, &args, paths, NULL, e) < 0)
		return -1;
	return git_do(&g, out, e, "ls-files", "-s", "-z", NULL);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The path's place in the sorted list; SIZE_MAX if it is not there. */
static size_t find(const struct strvec *sorted, const char *path)
{
	char **found = sorted->n ? bsearch(&path, sorted->v, sorted->n, sizeof(*sorted->v), compare) : NULL;

	return found ? (size_t)(found - sorted->v) : SIZE_MAX;
}

static bool is_executable(const struct scratch *s, const char *path)
{
	return find(&s->executable, path) != SIZE_MAX;
}

/* "MODE OID STAGE\tPATH\0" */
static int add_objects(struct scratch *s, const struct buf *out, bool *added, struct err *e)
{
	size_t hex = 2 * (size_t)s->repo->hash_len;

	for (size_t at = 0; at < out->len; at += strlen(out->data + at) + 1) {
		const char *line = out->data + at, *tab = strchr(line, '\t'), *path = tab ? tab + 1 : "";
		size_t i = find(&s->converted, path);
		char oid[OID_SIZE];

		if (i == SIZE_MAX || (size_t)(tab - line) < 7 + hex || added[i])
			continue;
		snprintf(oid, sizeof(oid), "%.*s", (int)hex, line + 7);
		if (scratch_object(s, path, is_executable(s, path), oid, e) < 0)
			return -1;
		added[i] = true;
	}
	return 0;
}

/* What git did not convert, a wrong encoding for example, is compared as it is. */
static int add_rest(struct scratch *s, const bool *added, struct err *e)
{
	const struct strvec *paths = &s->converted;
	auto_str root = path_join(s->dir, "wt");
	auto_fd top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < paths->n; i++) {
		auto_fd fd = added[i] ? -1 : open_regular_beneath(top, paths->v[i]);
		off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

		if (fd < 0)
			continue;
		lseek(fd, 0, SEEK_SET);
		if (scratch_file(s, paths->v[i], is_executable(s, paths->v[i]), fd, (uint64_t)size, e) < 0)
			return -1;
	}
	return 0;
}

int scratch_convert_all(struct scratch *s, struct err *e)
{
	auto_buf names = BUF_INIT(64 << 20), out = BUF_INIT(1u << 30);
	struct err ignored = ERR_INIT;
	bool *added;
	int rc = 0;

	if (!s->converted.n)
		return 0;
	strvec_sort(&s->converted);
	strvec_sort(&s->executable);
	for (size_t i = 0; i < s->converted.n; i++)
		buf_add(&names, s->converted.v[i], strlen(s->converted.v[i]) + 1);
	added = xcalloc(s->converted.n, sizeof(*added));
	own_attributes(s, true);
	if (!make_objects(s, &names, &out, &ignored))
		rc = add_objects(s, &out, added, e);
	own_attributes(s, false);
	if (!rc)
		rc = add_rest(s, added, e);
	free(added);
	return rc;
}
