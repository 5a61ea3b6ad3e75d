#include "workspace/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/tree.h"

void export_report_release(struct export_report *r)
{
	strvec_release(&r->left_out);
	strvec_release(&r->leaving);
	*r = (struct export_report){ 0 };
}

struct exporter {
	struct export_report *report;
	struct buf path;
	unsigned depth;
};

/* A name in a directory, and the topmost layer that has it. */
struct found {
	char *name;
	size_t layer;
};

struct found_list {
	struct found *v;
	size_t n, cap;
};

static void found_release(struct found_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
}

static int by_name(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->layer < y->layer ? -1 : 1;
}

static int list_layer(int dir, size_t layer, struct found_list *l, struct err *e)
{
	int copy = open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	if (!d) {
		fd_closep(&copy);
		return err_sys(e, "cannot read a directory of the workspace");
	}
	while ((ent = readdir(d))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		if (l->n == l->cap) {
			l->cap = l->cap ? l->cap * 2 : 64;
			l->v = xrealloc(l->v, l->cap, sizeof(*l->v));
		}
		l->v[l->n++] = (struct found){ xstrdup(ent->d_name), layer };
	}
	closedir(d);
	return 0;
}

static void leave_out(struct exporter *x)
{
	if (x->report->nleft_out++ < 100)
		strvec_push(&x->report->left_out, buf_str(&x->path));
}

/* Whether a link may lead out of the tree: it is absolute, has more ".." than the path is deep, or has ".." behind a name,
 * which may be a link itself: ".." then goes up from there. */
static bool may_lead_out(const char *text, const char *path)
{
	size_t depth = 0;
	bool named = false;

	if (text[0] == '/')
		return true;
	for (const char *p = path; (p = strchr(p, '/')); p++)
		depth++;
	for (const char *p = text; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n == 2 && !strncmp(p, "..", 2)) {
			if (named || !depth--)
				return true;
		} else if (n != 1 || *p != '.') {
			named = true;
		}
		p += n;
	}
	return false;
}

static int copy_link(struct exporter *x, int from, const char *name, int out, struct err *e)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return 0;
	text[n] = '\0';
	if (may_lead_out(text, buf_str(&x->path)) && x->report->nleaving++ < 100)
		strvec_push(&x->report->leaving, buf_str(&x->path));
	if (symlinkat(text, out, name) < 0)
		return err_sys(e, "cannot write the link '%s'", buf_str(&x->path));
	x->report->links++;
	return 0;
}

static int copy_file(struct exporter *x, int from, const char *name, int out, struct err *e)
{
	auto_fd in = open_regular_beneath(from, name), to = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0) {
		leave_out(x);
		return 0;
	}
	/* no set-id bits: an agent's program must not run as somebody else */
	to = openat(out, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, st.st_mode & 0777);
	if (to < 0)
		return err_sys(e, "cannot write '%s'", buf_str(&x->path));
	if (copy_fd(in, to, e) < 0)
		return err_wrap(e, "'%s'", buf_str(&x->path));
	futimens(to, (struct timespec[2]){ st.st_atim, st.st_mtim });
	x->report->files++;
	x->report->bytes += (uint64_t)st.st_size;
	return 0;
}

static bool is_opaque(int dir)
{
	char value[4];

	return fgetxattr(dir, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y';
}

static int merge(struct exporter *x, const int *layers, size_t n, int out, struct err *e);

/* Merges a directory of its topmost layer with the same directory of the layers below, down to an opaque one
 * or a file. */
static int merge_dir(
	struct exporter *x, const int *layers, size_t n, size_t top, const char *name, int out, struct err *e)
{
	int dirs[EXPORT_LAYERS_MAX];
	size_t count = 0;
	auto_fd to = -1;
	struct stat st;
	int rc;

	for (size_t i = top; i < n && x->depth < TREE_MAX_DEPTH; i++) {
		int fd = open_beneath(layers[i], name, O_RDONLY | O_DIRECTORY, 0);

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			break;
		dirs[count++] = fd;
		if (is_opaque(fd))
			break;
	}
	if (!count) {
		leave_out(x);
		return 0;
	}
	rc = fstat(dirs[0], &st);
	if (rc < 0 || mkdirat(out, name, (st.st_mode & 0777) | 0700) < 0 ||
		(to = open_beneath(out, name, O_RDONLY | O_DIRECTORY, 0)) < 0)
		rc = err_sys(e, "cannot make the directory '%s'", buf_str(&x->path));
	else
		rc = merge(x, dirs, count, to, e);
	while (count)
		fd_closep(&dirs[--count]);
	return rc;
}

static int merge_one(
	struct exporter *x, const int *layers, size_t n, const struct found *f, int out, struct err *e)
{
	struct stat st;

	/* the configuration of an agent's repository could make the user's git run programs */
	if (!strcasecmp(f->name, ".git")) {
		/* in a lower layer it is the mount point in a submodule */
		if (strcmp(buf_str(&x->path), ".git") && !(x->depth > 1 && f->layer))
			leave_out(x);
		return 0;
	}
	if (fstatat(layers[f->layer], f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return merge_dir(x, layers, n, f->layer, f->name, out, e);
	if (S_ISLNK(st.st_mode))
		return copy_link(x, layers[f->layer], f->name, out, e);
	if (S_ISREG(st.st_mode))
		return copy_file(x, layers[f->layer], f->name, out, e);
	if (!(S_ISCHR(st.st_mode) && st.st_rdev == 0))
		leave_out(x);
	return 0;
}

static int merge(struct exporter *x, const int *layers, size_t n, int out, struct err *e)
{
	struct found_list l = { 0 };
	size_t len = x->path.len;
	int rc = 0;

	x->depth++;
	for (size_t i = 0; i < n && !rc; i++)
		rc = list_layer(layers[i], i, &l, e);
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), by_name);
	for (size_t i = 0; i < l.n && !rc; i++) {
		if (i && !strcmp(l.v[i].name, l.v[i - 1].name))
			continue;
		if (len)
			buf_addch(&x->path, '/');
		buf_addstr(&x->path, l.v[i].name);
		rc = merge_one(x, layers, n, &l.v[i], out, e);
		buf_cut(&x->path, len);
	}
	x->depth--;
	found_release(&l);
	return rc;
}

int export_layers(const int *layers, size_t n, int out, struct export_report *ret, struct err *e)
{
	struct exporter x = { .report = ret, .path = BUF_SMALL };
	struct rlimit files;
	int rc;

	/* the recursion keeps the directories of every level open */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	rc = merge(&x, layers, n, out, e);

	buf_release(&x.path);
	return rc;
}
