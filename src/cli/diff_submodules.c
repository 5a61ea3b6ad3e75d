#include "cli/diff_submodules.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "cli/diff_sizes.h"
#include "git/neutral.h"
#include "sys/fd.h"
#include "task/tip.h"
#include "workspace/review.h"
#include "workspace/submodules.h"

/* Picks the paths that are in the submodule, relative to it. False if there are none. */
static bool take_paths(const struct strvec *paths, const char *within, struct strvec *ret)
{
	size_t n = strlen(within);

	for (size_t i = 0; i < paths->n; i++) {
		size_t len = strlen(paths->v[i]);

		while (len > 1 && paths->v[i][len - 1] == '/')
			len--;
		/* the submodule itself, or a directory above it: all of it */
		if (len <= n && !strncmp(paths->v[i], within, len) && (!within[len] || within[len] == '/'))
			return strvec_release(ret), *ret = (struct strvec)STRVEC_INIT, true;
		if (!strncmp(paths->v[i], within, n) && paths->v[i][n] == '/')
			strvec_push(ret, paths->v[i] + n + 1);
	}
	return !paths->n || ret->n;
}

static int open_one(struct task_at *at, const struct submodules *s, size_t n, struct submodule_view *v,
	struct review *r, struct err *e)
{
	if (submodule_view(&at->ws, s, n, v, e) < 0 || review_open(&v->ws, r, e) < 0)
		return err_wrap(e, "submodule '%s'", s->v[n].path);
	r->base = s->v[n].tip;
	return 0;
}

static int append(int from, int to, struct err *e)
{
	char chunk[65536];
	ssize_t n;

	lseek(from, 0, SEEK_SET);
	while ((n = read(from, chunk, sizeof(chunk))) > 0)
		if (write_full(to, chunk, (size_t)n) < 0)
			return err_sys(e, "cannot write a buffer");
	return n < 0 ? err_sys(e, "cannot read a buffer") : 0;
}

/* git's options for the differences of a submodule: its path is put in front of each name. */
static void add_format(struct strvec *args, const char *path, bool stat)
{
	strvec_pushl(args, stat ? "--stat" : "-p", "-M", "--no-color", NULL);
	strvec_pushf(args, "--src-prefix=a/%s/", path);
	strvec_pushf(args, "--dst-prefix=b/%s/", path);
}

/* Appends git's output to `out`, with the sizes of binary files. */
static int finish(const struct git *g, const char *path, bool stat, int out, int to, struct err *e)
{
	auto_str head = xasprintf(" %s:\n", path);
	int rc;

	if (stat && lseek(out, 0, SEEK_END) > 0 && write_full(to, head, strlen(head)) < 0)
		return err_sys(e, "cannot write a buffer");
	rc = diff_sizes(g, out, to, e);
	return rc > 0 ? append(out, to, e) : rc;
}

static int add_diff(
	struct review *r, const char *path, bool stat, const struct strvec *paths, int to, struct err *e)
{
	auto_fd out = open(r->scratch.dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct git g = { .dir = r->scratch.dir, .cwd = r->scratch.dir };
	auto_strvec args = STRVEC_INIT;

	if (out < 0)
		return err_sys(e, "cannot make a buffer");
	add_format(&args, path, stat);
	return review_diff(r, &args, paths, NULL, out, e) < 0 ? -1 : finish(&g, path, stat, out, to, e);
}

/* git runs without attributes and configuration, as for the superproject. */
static int add_published(struct task_at *at, const struct submodule *from, const struct submodule *s,
	bool stat, const struct strvec *paths, int to, struct err *e)
{
	auto_fd out = openat(at->ws.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	auto_neutral p = NEUTRAL_INIT;
	auto_strvec args = STRVEC_INIT;
	auto_repo r = { 0 };

	if (out < 0)
		return err_sys(e, "cannot make a buffer");
	if (submodule_repo(&at->ws, s, &r, e) < 0 || neutral_open(&r, r.git_dir, &p, e) < 0)
		return -1;
	strvec_pushl(&args, "--literal-pathspecs", "diff-tree", "-r", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", NULL);
	add_format(&args, s->path, stat);
	strvec_pushl(&args, "--end-of-options", from->tip, s->tip, "--", NULL);
	for (size_t i = 0; i < paths->n; i++)
		strvec_push(&args, paths->v[i]);
	p.git.stdout_fd = out;
	if (git_run(&p.git, &args, NULL, NULL, e) < 0)
		return err_wrap(e, "submodule '%s'", s->path);
	p.git.stdout_fd = 0;
	return finish(&p.git, s->path, stat, out, to, e);
}

int diff_submodules_published(struct task_at *at, const char *fork, const char *tip, bool stat,
	const struct strvec *paths, int to, struct err *e)
{
	auto_submodules from = { 0 }, s = { 0 };

	if (submodules_load(at->ws.dir, &from, e) < 0 || submodules_load(at->ws.dir, &s, e) < 0)
		return -1;
	submodules_find_tips(&at->ws, fork, &from);
	submodules_find_tips(&at->ws, tip, &s);
	for (size_t i = 0; i < s.n; i++) {
		auto_strvec some = STRVEC_INIT;

		if (submodule_is_here(&s.v[i]) && strcmp(from.v[i].tip, s.v[i].tip) != 0 &&
			take_paths(paths, s.v[i].path, &some) &&
			add_published(at, &from.v[i], &s.v[i], stat, &some, to, e) < 0)
			return -1;
	}
	return 0;
}

static int load(struct task_at *at, struct submodules *s, struct err *e)
{
	char fork[OID_SIZE];

	if (submodules_load(at->ws.dir, s, e) < 0)
		return -1;
	if (!s->n)
		return 0;
	tip_fork(&at->repo, at->task, fork);
	submodules_find_tips(&at->ws, fork, s);
	return 0;
}

int diff_submodules(struct task_at *at, bool stat, const struct strvec *paths, int to, struct err *e)
{
	auto_submodules s = { 0 };

	if (load(at, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_submodule_view v = { 0 };
		auto_review r = { .scratch = SCRATCH_INIT };
		auto_strvec some = STRVEC_INIT;

		if (!submodule_is_here(&s.v[i]) || !take_paths(paths, s.v[i].path, &some))
			continue;
		if (open_one(at, &s, i, &v, &r, e) < 0 || add_diff(&r, s.v[i].path, stat, &some, to, e) < 0)
			return -1;
	}
	return 0;
}

int diff_submodules_names(struct task_at *at, struct strvec *ret, struct err *e)
{
	auto_submodules s = { 0 };

	if (load(at, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_submodule_view v = { 0 };
		auto_review r = { .scratch = SCRATCH_INIT };
		auto_strvec names = STRVEC_INIT;

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (open_one(at, &s, i, &v, &r, e) < 0 || review_names(&r, &names, e) < 0)
			return -1;
		for (size_t k = 0; k < names.n; k++)
			strvec_pushf(ret, "%.2s%s/%s", names.v[k], s.v[i].path, names.v[k] + 2);
	}
	return 0;
}
