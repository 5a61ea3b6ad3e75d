#include "workspace/review.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/ref.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "workspace/converted.h"
#include "workspace/submodules.h"
#include "workspace/layer_use.h"

/* Up to here, paths that are left out of a snapshot are named one by one. */
#define LEFT_MAX       1000
#define LEFT_MAX_BYTES 200000
/* A file of this size is read only if its size does not tell enough. */
#define LARGE (1u << 20)

void review_release(struct review *r)
{
	scratch_release(&r->scratch);
	strvec_release(&r->apart);
	strvec_release(&r->unseen_by_git);
	hidden_release(&r->hidden);
	*r = (struct review){ .scratch = SCRATCH_INIT };
}

void review_left_release(struct review_left *l)
{
	strvec_release(&l->stays);
	strvec_release(&l->bars);
	strvec_release(&l->why);
}

/* Only for review_keep (r->left): other reviews change nothing. */
static void add_stays(struct review *r, const char *path)
{
	if (r->left)
		strvec_push(&r->left->stays, path);
}

void review_left_bar(struct review_left *l, const char *path, enum review_bar why, const char *line)
{
	if (!l->bars.n)
		l->first = why;
	strvec_push(&l->bars, path);
	strvec_push(&l->why, line);
}

static void add_bar(struct review *r, const char *path, enum review_bar why)
{
	if (r->left)
		review_left_bar(r->left, path, why, r->apart.v[r->apart.n - 1]);
}

/* Opens a file of the caller that has no read permission. */
static int open_closed(int root, const char *path)
{
	auto_fd place = open_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	auto_str name = xasprintf("/proc/self/fd/%d", place);
	struct stat st;
	int fd;

	errno = EACCES;
	if (place < 0 || fstat(place, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		chmod(name, (st.st_mode & 07777) | 0400) < 0)
		return -1;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	chmod(name, st.st_mode & 07777);
	return fd;
}

/* Whether a file's content is read. Of one of LFS only the pointer is shown, but all of it is hashed. */
static bool has_space(struct review *r, const struct change *c, uint64_t size)
{
	bool lfs = c->form & SCRATCH_LFS;
	uint64_t *used = lfs ? &r->hashed : &r->shown;

	if (size > (lfs ? REVIEW_LFS_MAX : REVIEW_FILE_MAX) ||
		size > (lfs ? REVIEW_LFS_ALL_MAX : REVIEW_ALL_MAX) - *used)
		return false;
	*used += size;
	return true;
}

static int put_file(struct review *r, int root, const struct change *c, struct err *e)
{
	auto_fd fd = open_regular_beneath(root, c->path);
	struct stat st;

	if (fd < 0 && errno == EACCES && r->left)
		fd = open_closed(root, c->path);

	/* removed or replaced since the scan: the task may be running */
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EINVAL)
			return 0;
		strvec_pushf(&r->apart, "%s (not readable: %s)", c->path, strerror(errno));
		add_bar(r, c->path, REVIEW_CLOSED);
		return 0;
	}
	if (!has_space(r, c, (uint64_t)st.st_size)) {
		strvec_pushf(
			&r->apart, "%s (%lld MB, too large to show)", c->path, (long long)st.st_size >> 20);
		add_bar(r, c->path, REVIEW_TOO_LARGE);
		return 0;
	}
	return scratch_convert(&r->scratch, c->path, c->executable, c->form, fd, (uint64_t)st.st_size, e);
}

static bool is_large(const struct change *c)
{
	return c->kind == CHANGE_FILE && c->size >= LARGE && !c->ignored && !c->form;
}

/* Finds large files whose size differs from the tip's, so that their content need not be compared. */
static int mark_large(struct scratch *s, const char *tip, struct changes *c, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;
	int64_t *sizes;
	int rc;

	for (size_t i = 0; i < c->n; i++)
		if (is_large(&c->v[i]))
			strvec_push(&paths, c->v[i].path);
	if (!paths.n)
		return 0;
	sizes = xcalloc(paths.n, sizeof(*sizes));
	rc = scratch_sizes(s, tip, &paths, sizes, e);
	for (size_t i = 0, k = 0; !rc && i < c->n; i++)
		if (is_large(&c->v[i])) {
			c->v[i].differs = sizes[k] && sizes[k] != (int64_t)c->v[i].size;
			k++;
		}
	free(sizes);
	return rc;
}

static int put_link(struct review *r, int root, const struct change *c, struct err *e)
{
	auto_str parent = xstrndup(c->path, (size_t)(path_base(c->path) - c->path));
	auto_fd dir = open_beneath(root, parent, O_RDONLY | O_DIRECTORY, 0);
	char text[PATH_MAX];
	ssize_t n = dir < 0 ? -1 : readlinkat(dir, path_base(c->path), text, sizeof(text));

	return n < 0 ? 0 : scratch_link(&r->scratch, c->path, text, (size_t)n, e);
}

/* Whether there is still space for an ignored file. */
static bool has_room(struct review *r, const struct change *c)
{
	if (c->size >= r->ignored_room)
		return false;
	r->ignored_room -= c->size;
	return true;
}

static int put_change(struct review *r, int root, const struct change *c, struct err *e)
{
	bool file = c->kind == CHANGE_FILE || c->kind == CHANGE_LINK;

	if (c->ignored && (file ? !has_room(r, c) : !r->left)) {
		r->ignored++;
		add_stays(r, c->path);
		return 0;
	}
	switch (c->kind) {
	case CHANGE_FILE:
		return c->differs ? scratch_placeholder(&r->scratch, c->path, c->executable, e)
				  : put_file(r, root, c, e);
	case CHANGE_LINK:
		return put_link(r, root, c, e);
	case CHANGE_GONE:
	case CHANGE_OPAQUE:
		return scratch_gone(&r->scratch, c->path, e);
	case CHANGE_ODD:
		strvec_pushf(&r->unseen_by_git, "%s (neither a file nor a link)", c->path);
		return c->tracked ? scratch_gone(&r->scratch, c->path, e) : 0;
	case CHANGE_CLOSED:
		strvec_pushf(&r->apart, "%s/ (cannot be read)", c->path);
		add_bar(r, c->path, REVIEW_CLOSED);
		return 0;
	case CHANGE_REPO:
		strvec_pushf(&r->apart, "%s (a repository of its own)", c->path);
		add_stays(r, c->path);
		return 0;
	}
	return 0;
}

/* The tip of the task's branch after the last publish. */
static const char *tip_of(const struct workspace *ws)
{
	return *ws->task->published ? ws->task->published : ws->task->base;
}

static void name_unknown(struct strvec *ret, const char *sign, const struct changes *c)
{
	if (c->cannot_tell)
		strvec_pushf(ret, "%scannot tell which files are ignored: %s", sign, c->cannot_tell);
}

/* Puts a scan's changes since that commit into the scratch repository. */
static int take_changes(struct workspace *ws, const char *since, const char *tip, struct changes *c,
	struct review *r, struct err *e)
{
	r->base = ws->task->base;
	if (scratch_open(ws->repo, ws->home->fd, ws->home->path, &r->scratch, e) < 0)
		return -1;
	if (r->seconds)
		r->scratch.deadline = clock_ms() + 1000 * (int64_t)r->seconds;
	if (layers_committed(ws, &r->scratch, since, tip, c, e) < 0 ||
		ignored_mark(ws, &r->scratch, since, tip, c, e) < 0 ||
		converted_mark(&r->scratch, since, c, e) < 0 ||
		(r->names_only && mark_large(&r->scratch, tip, c, e) < 0) ||
		scratch_begin(&r->scratch, since, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (put_change(r, c->v[i].layer ? c->layers[c->v[i].layer - 1] : c->root, &c->v[i], e) < 0)
			return -1;
	return scratch_end(&r->scratch, e);
}

static int uncommitted(
	struct workspace *ws, const char *tip, struct strvec *ret, size_t *ret_ignored, struct err *e)
{
	auto_review r = { .scratch = SCRATCH_INIT, .seconds = REVIEW_SECONDS, .names_only = true };
	auto_str since = workspace_since(ws);
	auto_changes c = { .root = -1 };

	*ret_ignored = 0;
	if (workspace_scan(ws, &c, e) < 0)
		return -1;
	if (!c.n && !strcmp(since, tip))
		return 0;
	if (take_changes(ws, since, tip, &c, &r, e) < 0)
		return -1;
	r.base = tip;
	/* first, since it casts doubt on the names that follow */
	name_unknown(ret, "? ", &c);
	if (review_names(&r, ret, e) < 0 ||
		(strcmp(since, tip) && ignored_untracked(&r.scratch, since, &c, ret, &r.ignored, e) < 0))
		return -1;
	for (size_t i = 0; i < r.apart.n; i++)
		strvec_pushf(ret, "? %s", r.apart.v[i]);
	*ret_ignored = r.ignored;
	return 0;
}

/* Whether a submodule's files are those of the commit that was published from it. Then only the commit of the
 * superproject that names it is missing. */
static bool is_committed(struct workspace *sub, const char *named)
{
	auto_strvec names = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	char tip[OID_SIZE];
	size_t more = 0;

	return !ref_read(sub->repo, sub->task->branch, tip, &ignored) && *tip && strcmp(tip, named) &&
	       !uncommitted(sub, tip, &names, &more, &ignored) && !names.n;
}

/* Adds what differs in one submodule, with its path in front: "M lib.c" is "M libs/mod/lib.c". */
static int add_submodule(struct workspace *ws, const struct submodules *s, size_t n, struct strvec *ret,
	size_t *ignored, struct err *e)
{
	auto_submodule_view v = { 0 };
	auto_strvec names = STRVEC_INIT;
	size_t more = 0;

	if (submodule_view(ws, s, n, &v, e) < 0 || uncommitted(&v.ws, s->v[n].tip, &names, &more, e) < 0)
		return err_wrap(e, "submodule '%s'", s->v[n].path);
	*ignored += more;
	if (names.n && is_committed(&v.ws, s->v[n].tip))
		return strvec_pushf(ret, "M %s", s->v[n].path), 0;
	for (size_t i = 0; i < names.n; i++)
		strvec_pushf(ret, "%.2s%s/%s", names.v[i], s->v[n].path, names.v[i] + 2);
	return 0;
}

int review_uncommitted(
	struct workspace *ws, const char *tip, struct strvec *ret, size_t *ret_ignored, struct err *e)
{
	auto_submodules s = { 0 };

	if (uncommitted(ws, tip, ret, ret_ignored, e) < 0 || submodules_load(ws->dir, &s, e) < 0)
		return -1;
	submodules_find_tips(ws, tip, &s);
	for (size_t i = 0; i < s.n; i++)
		if (submodule_is_here(&s.v[i]) && add_submodule(ws, &s, i, ret, ret_ignored, e) < 0)
			return -1;
	return 0;
}

int review_ignored(struct workspace *ws, struct changes *c, struct err *e)
{
	auto_review r = { .scratch = SCRATCH_INIT };
	auto_str since = workspace_since(ws);

	return scratch_open(ws->repo, ws->home->fd, ws->home->path, &r.scratch, e) < 0
		       ? -1
		       : ignored_mark(ws, &r.scratch, since, tip_of(ws), c, e);
}

int review_open(struct workspace *ws, struct review *ret, struct err *e)
{
	auto_review r = { .scratch = SCRATCH_INIT };
	auto_str since = workspace_since(ws);
	auto_changes c = { .root = -1 };

	if (workspace_scan(ws, &c, e) < 0 || take_changes(ws, since, tip_of(ws), &c, &r, e) < 0)
		return -1;
	name_unknown(&r.apart, "", &c);
	hidden_list(&c, &r.hidden);
	*ret = r;
	r = (struct review){ .scratch = SCRATCH_INIT };
	return 0;
}

/* Too many for one command line. */
static bool are_many(const struct strvec *paths)
{
	size_t bytes = 0;

	for (size_t i = 0; i < paths->n && bytes <= LEFT_MAX_BYTES; i++)
		bytes += strlen(paths->v[i]);
	return paths->n > LEFT_MAX || bytes > LEFT_MAX_BYTES;
}

/* Replaces very many paths by the directories they are in, or by their topmost directories. */
static void shorten(struct strvec *paths, bool topmost)
{
	struct strvec fewer = STRVEC_INIT;

	if (!are_many(paths))
		return;
	for (size_t i = 0; i < paths->n; i++) {
		const char *path = paths->v[i];
		size_t n = topmost ? strcspn(path, "/") : (size_t)(path_base(path) - path);
		auto_str dir = xstrndup(path, n > 1 && path[n - 1] == '/' ? n - 1 : n ? n : strlen(path));

		/* the paths are sorted as in a walk, so duplicates are adjacent */
		if (!fewer.n || strcmp(fewer.v[fewer.n - 1], dir))
			strvec_push(&fewer, dir);
	}
	strvec_release(paths);
	*paths = fewer;
}

void review_left_lines(const struct review_left *l, struct strvec *ret)
{
	for (size_t i = 0; i < l->why.n; i++)
		strvec_push(ret, l->why.v[i]);
	for (size_t i = 0; i < l->stays.n; i++)
		strvec_push(ret, l->stays.v[i]);
}

int review_keep(
	struct workspace *ws, int out_fd, char commit[OID_SIZE], struct review_left *left, struct err *e)
{
	auto_review r = { .scratch = SCRATCH_INIT, .left = left, .ignored_room = REVIEW_IGNORED_MAX };
	auto_str since = workspace_since(ws);
	auto_changes c = { .root = -1 };

	if (workspace_scan(ws, &c, e) < 0 || take_changes(ws, since, tip_of(ws), &c, &r, e) < 0)
		return -1;
	shorten(&left->stays, false);
	shorten(&left->stays, true);
	left->many = are_many(&left->stays);
	if (left->many)
		review_left_bar(left, left->stays.v[0], REVIEW_TOO_LARGE,
			"too many files that are ignored, and too large for a snapshot");
	return scratch_pack(&r.scratch, since, out_fd, commit, e);
}

int review_diff(struct review *r, const struct strvec *args, const struct strvec *paths, struct buf *out,
	int out_fd, struct err *e)
{
	return scratch_diff(&r->scratch, r->base, args, paths, out, out_fd, e);
}

int review_names(struct review *r, struct strvec *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_INIT(512u << 20);

	strvec_pushl(&args, "--name-status", "-z", "--no-renames", NULL);
	if (review_diff(r, &args, NULL, &out, -1, e) < 0)
		return -1;
	for (size_t at = 0; at + 2 < out.len;) {
		const char *path = out.data + at + 2;

		strvec_pushf(ret, "%c %s", out.data[at], path);
		at += 2 + strlen(path) + 1;
	}
	return 0;
}
