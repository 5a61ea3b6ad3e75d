#include "git/uncommitted.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/blob.h"
#include "git/config_list.h"
#include "git/discover.h"
#include "git/lfs.h"
#include "git/run.h"
#include "sys/fd.h"

#define LOOK_SECONDS  3
#define PATCH_SECONDS 120

/* Adds options that switch off a setting of a filter. */
static int switch_off(const char *name, struct strvec *args, struct err *e)
{
	const char *last = strrchr(name, '.');

	if (strchr(name, '='))
		return err_set(e, ERR_REFUSED, "the filter '%s' cannot be switched off", name);
	strvec_push(args, "-c");
	strvec_pushf(args, "%s=%s", name, last && !strcmp(last, ".required") ? "false" : "");
	return 0;
}

/* The same for every filter in the configuration, whatever attributes the files have. git must be told the place of the
 * repository in the same words as later: if it looked for it by itself, other includes could be in force
 * (includeIf "gitdir:" compares the words, and a .git may be a link). */
static int no_filters(const struct git *later, struct strvec *args, struct err *e)
{
	auto_buf list = BUF_INIT(4 << 20);
	const char *scope, *key, *value;
	size_t at = 0, n;

	if (config_list(later->dir, &list, e) < 0)
		return -1;
	while (config_next(&list, &at, &scope, &key, &n, &value)) {
		auto_str name = xstrndup(key, n);

		if (!strncmp(name, "filter.", 7) && switch_off(name, args, e) < 0)
			return -1;
	}
	return 0;
}

/* Without asking git, if its settings are those that the repository was opened with: a linked worktree may have others,
 * by a file of its own or by conditions on its path. */
static int no_known_filters(const struct repo *r, const struct git *later, struct strvec *args, struct err *e)
{
	if (!r || strcmp(r->git_dir, later->dir) != 0 || repo_config(r, "extensions.worktreeconfig"))
		return no_filters(later, args, e);
	for (size_t i = 0; i < r->config.n; i++) {
		auto_str name = xstrndup(r->config.v[i], strcspn(r->config.v[i], "\n"));

		if (!strncmp(name, "filter.", 7) && switch_off(name, args, e) < 0)
			return -1;
	}
	return 0;
}

static int find_checkout(const char *dir, struct discovered *ret, struct err *e)
{
	if (discover(dir, ret, e) < 0)
		return -1;
	return ret->bare ? err_set(e, ERR_REFUSED, "'%s' is a bare repository, without files", ret->top) : 0;
}

/* git in the checkout. Both commands of a pair, the one that lists filters and the one that must not run them, are told
 * its place, so that they have the same configuration. */
static struct git git_in(const struct discovered *d, const char *dir)
{
	return (struct git){ .dir = d->git_dir, .work_tree = d->top, .cwd = dir, .user_config = true };
}

/* Without its filter, a file of LFS differs from its pointer. */
struct pointed {
	int top;
	const struct strvec *paths;
	struct strvec same; /* files that have the content of their pointer in the index */
};

static int look_at_pointer(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct pointed *at = arg;
	auto_fd fd = open_regular_beneath(at->top, at->paths->v[i]);
	struct lfs_pointer want;

	(void)e;
	if (fd >= 0 && lfs_parse(data, len, &want) && lfs_is_content(fd, &want))
		strvec_push(&at->same, at->paths->v[i]);
	return 0;
}

/* Of the paths that git calls changed, those that are unchanged files of LFS. */
static int list_unchanged(
	const struct discovered *d, const struct strvec *paths, struct strvec *ret, struct err *e)
{
	struct git g = git_in(d, d->top);
	struct pointed at = { -1, paths, STRVEC_INIT };
	auto_strvec names = STRVEC_INIT;
	auto_fd top = -1, store = paths->n ? lfs_open_store(&(struct repo){ .git_dir = d->common }) : -1;
	int rc;

	if (store < 0)
		return 0;
	g.seconds = LOOK_SECONDS;
	top = open(d->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < paths->n; i++)
		strvec_pushf(&names, ":%s", paths->v[i]);
	at.top = top;
	rc = top < 0 ? err_sys(e, "cannot open '%s'", d->top)
		     : blob_read(&g, &names, look_at_pointer, &at, e);
	strvec_pushv(ret, (const char *const *)at.same.v);
	strvec_release(&at.same);
	return rc;
}

int uncommitted_find(const char *dir, const struct repo *r, int file, struct err *e)
{
	auto_buf out = BUF_INIT(16 << 20), kept = BUF_INIT(16 << 20);
	auto_strvec args = STRVEC_INIT, changed = STRVEC_INIT, same = STRVEC_INIT;
	auto_discovered d = { 0 };
	struct git g;

	if (find_checkout(dir, &d, e) < 0)
		return -1;
	g = git_in(&d, dir);
	g.seconds = LOOK_SECONDS;
	if (no_known_filters(r, &g, &args, e) < 0)
		return -1;
	strvec_pushl(&args, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal",
		"--ignore-submodules=all", NULL);
	if (git_run(&g, &args, NULL, &out, e) < 0)
		return -1;
	for (size_t at = 0; at + 3 < out.len; at += strlen(out.data + at) + 1)
		if (!strncmp(out.data + at, " M ", 3))
			strvec_push(&changed, out.data + at + 3);
	if (list_unchanged(&d, &changed, &same, e) < 0)
		return -1;
	for (size_t at = 0; at + 3 < out.len; at += strlen(out.data + at) + 1)
		if (!strvec_has(&same, out.data + at + 3))
			buf_add(&kept, out.data + at, strlen(out.data + at) + 1);
	return write_full(file, buf_str(&kept), kept.len) < 0 ? err_sys(e, "cannot keep what git says") : 0;
}

int uncommitted_read(int file, struct strvec *ret, struct err *e)
{
	auto_buf out = BUF_INIT(16 << 20);

	if (lseek(file, 0, SEEK_SET) < 0)
		return err_sys(e, "cannot read what git says");
	if (read_rest(file, &out, "what git says", e) < 0)
		return -1;
	/* "XY PATH", each followed by a NUL */
	for (size_t at = 0; at + 3 < out.len; at += strlen(out.data + at) + 1)
		strvec_push(ret, out.data + at + 3);
	return 0;
}

/* Copies the checkout's index; a linked worktree has its own. */
static int copy_index(const struct git *g, const char *to, struct err *e)
{
	auto_buf path = BUF_SMALL, text = BUF_INIT(1u << 30);

	if (git_do(g, &path, e, "rev-parse", "--path-format=absolute", "--git-path", "index", NULL) < 0)
		return -1;
	if (path.len)
		buf_cut(&path, path.len - 1);
	if (read_file(AT_FDCWD, buf_str(&path), &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	return write_file(AT_FDCWD, to, text.data, text.len, 0600, e);
}

/* Adds pathspecs that leave the submodules out: git would read a submodule's files with the submodule's
 * configuration, whose filters are not switched off. */
static int leave_submodules_out(const struct git *g, struct strvec *args, struct err *e)
{
	auto_strvec ask = STRVEC_INIT;
	auto_buf out = BUF_INIT(1u << 30);

	strvec_pushl(&ask, "ls-files", "--stage", "-z", NULL);
	if (git_run(g, &ask, NULL, &out, e) < 0)
		return -1;
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1) {
		const char *path = strchr(out.data + at, '\t');

		if (path && !strncmp(out.data + at, "160000 ", 7))
			strvec_pushf(args, ":(top,literal,exclude)%s", path + 1);
	}
	return 0;
}

/* Pathspecs that leave out unchanged files of LFS. A changed one is refused: the patch would be one of its pointer, and
 * the task has the content. */
static int leave_lfs(const struct git *g, const struct discovered *d, const struct strvec *no_filters,
	struct strvec *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT, changed = STRVEC_INIT, same = STRVEC_INIT, ask = STRVEC_INIT;
	auto_buf out = BUF_INIT(64 << 20), answer = BUF_INIT(256 << 20);

	strvec_pushv(&args, (const char *const *)no_filters->v);
	strvec_pushl(
		&args, "diff-files", "--name-only", "-z", "--diff-filter=M", "--ignore-submodules=all", NULL);
	strvec_pushl(&ask, "check-attr", "-z", "--stdin", "filter", NULL);
	if (git_run(g, &args, NULL, &out, e) < 0 || !out.len)
		return out.len ? -1 : 0;
	if (git_run(g, &ask, &out, &answer, e) < 0)
		return -1;
	for (size_t at = 0; at < answer.len;) {
		const char *path = answer.data + at, *name = path + strlen(path) + 1,
			   *value = name + strlen(name) + 1;

		if (!strcmp(value, LFS_FILTER))
			strvec_push(&changed, path);
		at = (size_t)(value - answer.data) + strlen(value) + 1;
	}
	if (list_unchanged(d, &changed, &same, e) < 0)
		return -1;
	for (size_t i = 0; i < changed.n; i++) {
		if (!strvec_has(&same, changed.v[i]))
			return err_set(e, ERR_REFUSED,
				       "'%s' is a changed file of Git LFS, which cannot be taken along",
				       changed.v[i]),
			       err_hint(e, "git commit");
		strvec_pushf(ret, ":(top,literal,exclude)%s", changed.v[i]);
	}
	return 0;
}

/* Adds pathspecs for the absolute paths that are in the checkout. */
static void leave_places(const char *top, const struct strvec *never, struct strvec *args)
{
	size_t n = strcmp(top, "/") ? strlen(top) : 0;

	for (size_t i = 0; i < never->n; i++)
		if (path_within(never->v[i], top) && never->v[i][n])
			strvec_pushf(args, ":(top,literal,exclude)%s", never->v[i] + n + 1);
}

int uncommitted_patch(const char *dir, const char *index, const struct strvec *never, int file, struct err *e)
{
	auto_strvec args = STRVEC_INIT, left = STRVEC_INIT;
	auto_discovered d = { 0 };
	struct git g;

	if (find_checkout(dir, &d, e) < 0)
		return -1;
	g = git_in(&d, d.top);
	if (copy_index(&g, index, e) < 0)
		return -1;
	g.index = index;
	g.seconds = PATCH_SECONDS;
	if (no_filters(&g, &args, e) < 0 || leave_lfs(&g, &d, &args, &left, e) < 0)
		return -1;
	strvec_pushl(&args, "-c", "advice.addEmbeddedRepo=false", "add", "-A", "--", ":/", NULL);
	strvec_pushv(&args, (const char *const *)left.v);
	leave_places(d.top, never, &args);
	if (leave_submodules_out(&g, &args, e) < 0 || git_run(&g, &args, NULL, NULL, e) < 0)
		return -1;
	g.stdout_fd = file;
	return git_do(&g, NULL, e, "diff", "--cached", "--binary", "--full-index", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
		"--ignore-submodules=all", "HEAD", "--", NULL);
}
