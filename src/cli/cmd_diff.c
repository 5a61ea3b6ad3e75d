#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/size.h"
#include "cli/cmd.h"
#include "cli/diff_sizes.h"
#include "cli/diff_submodules.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "git/neutral.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/seen.h"
#include "task/tip.h"
#include "workspace/review.h"

/* At most so many ignored files are named; --json has more. */
#define NAMED_MAX 10

/* git has written to an unnamed file. Its content is cleaned if stdout is a terminal. */
static void print_file(int out)
{
	struct pager_diff d = { .raw = !isatty(1), .colours = say_colours(1) };
	bool empty = lseek(out, 0, SEEK_END) == 0;
	char chunk[65536];
	ssize_t n;

	lseek(out, 0, SEEK_SET);
	progress_end();
	if (empty && say_is_heard())
		say_state("there are no changes");
	if (empty)
		return;
	pager_start();
	while ((n = read(out, chunk, sizeof(chunk))) > 0)
		pager_diff(&d, chunk, (size_t)n);
	pager_diff_end(&d);
	pager_end();
}

static int print_diff(
	struct task_at *at, struct review *r, bool stat, const struct strvec *paths, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_fd out = open(r->scratch.dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
		all = open(r->scratch.dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct git g = { .dir = r->scratch.dir, .cwd = r->scratch.dir };
	int rc, to;

	if (out < 0 || all < 0)
		return err_sys(e, "cannot make a buffer");
	strvec_pushl(&args, stat ? "--stat" : "-p", "-M", "--no-color", NULL);
	if (review_diff(r, &args, paths, NULL, out, e) < 0 || (rc = diff_sizes(&g, out, all, e)) < 0)
		return -1;
	to = rc ? out : all;
	lseek(to, 0, SEEK_END);
	if (diff_submodules(at, stat, paths, to, e) < 0)
		return -1;
	print_file(to);
	return 0;
}

/* What is published: from the commit at which the branch left its target to its tip. */
struct range {
	char fork[OID_SIZE], tip[OID_SIZE];
};

static int find_range(struct task_at *at, struct range *ret, struct err *e)
{
	if (ref_read(&at->repo, at->task->branch, ret->tip, e) < 0)
		return -1;
	tip_fork(&at->repo, at->task, ret->fork);
	return *ret->tip ? 0 : err_set(e, ERR_NOTFOUND, "the branch of task '%s' is gone", at->task->name);
}

/* Compares the branch with the fork. The objects are verified and in the shared repository. git runs in a
 * place without attributes, neither the agent's nor the current directory's. */
static int diff_published(struct task_at *at, const struct range *range, const char *how,
	const struct strvec *paths, int fd, struct buf *out, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_neutral p = NEUTRAL_INIT;

	if (neutral_open(&at->repo, at->repo.git_dir, &p, e) < 0)
		return -1;
	if (fd >= 0)
		p.git.stdout_fd = fd;
	strvec_pushl(&args, "--literal-pathspecs", "diff-tree", "-r", how, "-M", "--no-color",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", NULL);
	if (out)
		strvec_pushl(&args, "-z", "--no-renames", NULL);
	strvec_pushl(&args, "--end-of-options", range->fork, range->tip, "--", NULL);
	for (size_t i = 0; i < paths->n; i++)
		strvec_push(&args, paths->v[i]);
	return git_run(&p.git, &args, NULL, out, e);
}

static int print_published(struct task_at *at, bool stat, const struct strvec *paths, struct err *e)
{
	auto_fd out = openat(at->ws.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
		all = openat(at->ws.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	auto_neutral p = NEUTRAL_INIT;
	struct range range = { 0 };
	int rc, to;

	if (out < 0 || all < 0)
		return err_sys(e, "cannot make a buffer");
	if (find_range(at, &range, e) < 0 ||
		diff_published(at, &range, stat ? "--stat" : "-p", paths, out, NULL, e) < 0 ||
		neutral_open(&at->repo, at->repo.git_dir, &p, e) < 0 ||
		(rc = diff_sizes(&p.git, out, all, e)) < 0)
		return -1;
	to = rc ? out : all;
	lseek(to, 0, SEEK_END);
	if (diff_submodules_published(at, range.fork, range.tip, stat, paths, to, e) < 0)
		return -1;
	print_file(to);
	return 0;
}

/* Finds paths that are published and differ in the workspace: a merge applies what is published, not what the
 * workspace shows. */
static void find_unseen(struct task_at *at, struct review *r, struct strvec *ret)
{
	auto_buf names = BUF_INIT(64 << 20);
	auto_strvec all = STRVEC_INIT, other = STRVEC_INIT, published = STRVEC_INIT;
	const char *base = r->base;
	struct err ignored = ERR_INIT;
	struct range range = { 0 };

	if (!*at->task->published || find_range(at, &range, &ignored) < 0)
		return;
	r->base = range.tip;
	if (!review_names(r, &other, &ignored) && other.n &&
		!diff_published(at, &range, "--name-only", &all, -1, &names, &ignored))
		for (size_t i = 0; i < names.len; i += strlen(names.data + i) + 1)
			strvec_push(&published, names.data + i);
	for (size_t i = 0; i < other.n; i++)
		if (strvec_has(&published, other.v[i] + 2))
			strvec_push(ret, other.v[i] + 2);
	r->base = base;
}

static void warn_of_unseen(struct task_at *at, struct review *r)
{
	auto_strvec unseen = STRVEC_INIT;
	char count[COUNT_TEXT_MAX];

	progress_begin("comparing with what is published");
	find_unseen(at, r, &unseen);
	progress_end();
	if (!unseen.n)
		return;
	say_warning("%s published file%s not as shown here: a merge brings what is published",
		count_text(unseen.n, count), unseen.n == 1 ? " is" : "s are");
	say_hint("garth diff --published %s", at->task->name);
}

static int print_names(struct task_at *at, struct review *r, struct err *e)
{
	auto_strvec names = STRVEC_INIT, unseen = STRVEC_INIT;
	json_t *o, *hidden = json_array();

	if (review_names(r, &names, e) < 0 || diff_submodules_names(at, &names, e) < 0)
		return say_error(e);
	for (size_t i = 0; i < r->hidden.n; i++)
		json_array_append_new(hidden, json_pack("{s:o, s:I}", "path", json_text(r->hidden.v[i].path),
						      "file_count", (json_int_t)r->hidden.v[i].files));
	for (size_t i = 0; i < r->unseen_by_git.n; i++)
		strvec_push(&r->apart, r->unseen_by_git.v[i]);
	find_unseen(at, r, &unseen);
	o = json_pack("{s:o, s:o, s:i, s:o, s:o, s:o}", "task", json_text(at->task->name), "files",
		json_files(&names), "ignored", (int)r->ignored, "hidden", hidden, "left_out",
		json_list(&r->apart), "unseen", json_list(&unseen));
	return json_print(o);
}

/* "build (30), x.o and 12 more" */
static void name_hidden(const struct hidden *h, size_t all, struct buf *out)
{
	size_t named = 0;

	for (size_t i = 0; i < h->n && i < NAMED_MAX; i++) {
		buf_printf(out, "%s%s", i ? ", " : "", h->v[i].path);
		if (h->v[i].files > 1)
			buf_printf(out, " (%zu)", h->v[i].files);
		named += h->v[i].files;
	}
	if (named < all)
		buf_printf(out, " and %zu more", all - named);
}

static void name_rules(const struct strvec *rules, struct buf *out)
{
	for (size_t i = 0; i < rules->n && i < NAMED_MAX; i++)
		buf_printf(out, "%s%s", i ? ", " : "", rules->v[i]);
	if (rules->n > NAMED_MAX)
		buf_printf(out, " and %zu more", rules->n - NAMED_MAX);
}

static void tell_hidden(const struct strvec *paths)
{
	char count[COUNT_TEXT_MAX];

	if (paths->n)
		say_warning_list(paths, "%s path%s not shown", count_text(paths->n, count),
			paths->n == 1 ? " is" : "s are");
}

static void print_rest(const struct review *r)
{
	auto_buf hidden = BUF_INIT(1 << 20), rules = BUF_INIT(1 << 20);
	char count[COUNT_TEXT_MAX];

	tell_hidden(&r->apart);
	tell_hidden(&r->unseen_by_git);
	if (!r->ignored)
		return;
	name_hidden(&r->hidden, r->ignored, &hidden);
	say_state("%s ignored file%s not shown: %s", count_text(r->ignored, count),
		r->ignored == 1 ? " is" : "s are", buf_str(&hidden));
	name_rules(&r->hidden.rules, &rules);
	if (rules.len)
		say_warning("ignore files that are ignored themselves, and hide others: %s", buf_str(&rules));
}

int cmd_diff(int argc, char **argv)
{
	bool stat = false, json = false, published = false;
	const struct opt opts[] = {
		{ 0, "published", OPT_FLAG, &published, NULL, "show what is published: what a merge brings" },
		{ 0, "stat", OPT_FLAG, &stat, NULL, "show only how much changed in each file" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print the changed paths as JSON" },
		OPT_END,
	};
	struct cmd_line l = { "diff", opts, 1, -1, false, 0, 0 };
	auto_review r = { .scratch = SCRATCH_INIT };
	auto_context c = { .home.fd = -1 };
	auto_task_at at = { .ws.dir = -1 };
	auto_strvec paths = STRVEC_INIT;
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	char fork[OID_SIZE];

	CMD_PARSE(&l, argc, argv);
	for (int i = 1; i < l.words; i++)
		strvec_push(&paths, argv[i]);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0 || task_open(&c, &t, &at, &e) < 0)
		return say_error(&e);
	if (published && json) {
		err_set(&e, ERR_USAGE, "--published and --json do not go together");
		return say_error(&e);
	}
	if (!json)
		seen_mark(&c, &t);
	progress_begin("comparing");
	if (published)
		return print_published(&at, stat, &paths, &e) < 0 ? say_error(&e) : 0;
	if (review_open(&at.ws, &r, &e) < 0)
		return say_error(&e);
	tip_fork(&at.repo, &t, fork);
	r.base = fork;
	if (json)
		return print_names(&at, &r, &e);
	if (print_diff(&at, &r, stat, &paths, &e) < 0)
		return say_error(&e);
	print_rest(&r);
	warn_of_unseen(&at, &r);
	return 0;
}
