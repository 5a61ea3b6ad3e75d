/* garth review: read what a task has published, and send comments, merge or discard. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/editor.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/review_edit.h"
#include "cli/say.h"
#include "feedback/review_dir.h"
#include "sys/fd.h"
#include "task/seen.h"

struct wish {
	bool approve, print, pager;
	const char *reject, *comments;
	/* for garth merge */
	bool squash, rebase, no_ff, keep;
	const char *into, *message;
	bool json, discard;
};

static json_t *files_json(const struct published *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->patch.n; i++) {
		const struct patch_file *f = &p->patch.v[i];
		const char *why = p->lines.folded[i];

		json_array_append_new(
			a, json_pack("{s:s%, s:o, s:I, s:I, s:s?}", "status", &f->status, (size_t)1, "path",
				   json_text(f->path), "insertions", (json_int_t)f->added, "deletions",
				   (json_int_t)f->removed, "folded", why));
	}
	return a;
}

/* Shows the diff without an editor: for a script, or in the pager. */
static int show(struct reviewing *r, bool pager)
{
	struct pager_diff d = { .raw = !pager, .colours = pager && say_colours(1) };
	auto_buf text = BUF_INIT(KEPT_MAX);
	struct err e = ERR_INIT;

	if (reviewing_read(r, &e) < 0 || review_dir_set_shown(r->dir, r->p.tip, &e) < 0)
		return say_error(&e);
	if (r->json)
		return json_print(json_pack("{s:o, s:s, s:s, s:o, s:o}", "task", json_text(r->t->name), "tip",
			r->p.tip, "fork", r->p.fork, "files", files_json(&r->p), "uncommitted",
			json_files(&r->uncommitted)));
	reviewing_text(r, &(struct comment_list){ 0 }, pager, &text);
	if (pager)
		pager_start();
	pager_diff(&d, buf_str(&text), text.len);
	pager_diff_end(&d);
	if (pager)
		pager_end();
	return ferror(stdout) ? 1 : 0;
}

static int review(struct context *c, struct task *t, const struct wish *w, const struct run_opts *run)
{
	auto_reviewing r = REVIEWING_INIT(c, t);
	auto_str editor = NULL;
	struct err e = ERR_INIT;

	r.run = *run;
	r.json = w->json;
	r.discard = w->discard;
	if (reviewing_open(&r, &e) < 0)
		return say_error(&e);
	if (w->print || w->pager)
		return show(&r, w->pager);
	if (r.json && !run->detach)
		json_reserve_stdout();
	if (w->comments)
		return reviewing_take(&r, w->comments);
	editor = editor_find();
	if (editor)
		return reviewing_edit(&r, editor);
	if (isatty(1) && !r.json)
		return show(&r, true);
	err_set(&e, ERR_USAGE, "there is neither an editor nor a terminal");
	err_hint(&e, "garth review --print %s", t->name);
	return say_error(&e);
}

/* Finds the commit that the user has seen. */
static int find_shown(const char *name, const struct wish *w, char shown[OID_SIZE], struct err *e)
{
	auto_context c = { .home.fd = -1 };
	auto_task t = { 0 };
	auto_fd dir = -1;

	if (cmd_open_task(CMD_NEEDS_GIT, name, &c, &t, e) < 0 || home_task_dir(&c.home, t.id, &dir, e) < 0)
		return -1;
	review_dir_shown(dir, shown);
	if (w->reject)
		return 0;
	if (!*shown)
		return err_set(e, ERR_REFUSED, "task '%s' has not been reviewed yet", t.name),
		       err_hint(e, "garth review %s", t.name);
	if (!w->discard && review_dir_has_comments(dir))
		return err_set(e, ERR_REFUSED, "the review of task '%s' has comments that were not sent",
			       t.name),
		       err_hint(e, "garth review %s", t.name);
	return 0;
}

/* Merges or discards what was seen, as those commands do it. */
static int decide(const char *name, const struct wish *w)
{
	auto_strvec args = STRVEC_INIT;
	char *words[32];
	char shown[OID_SIZE];
	struct err e = ERR_INIT;

	if (find_shown(name, w, shown, &e) < 0)
		return say_error(&e);
	if (w->json)
		strvec_push(&args, "--json");
	if (*shown)
		strvec_pushl(&args, "--tip", shown, NULL);
	if (w->reject)
		strvec_pushl(&args, "-f", "-D", "--reason", w->reject, NULL);
	if (w->squash)
		strvec_push(&args, "--squash");
	if (w->rebase)
		strvec_push(&args, "--rebase");
	if (w->no_ff)
		strvec_push(&args, "--no-ff");
	if (w->keep)
		strvec_push(&args, "--keep");
	if (w->into)
		strvec_pushl(&args, "--into", w->into, NULL);
	if (w->message)
		strvec_pushl(&args, "-m", w->message, NULL);
	strvec_push(&args, name);
	/* a command changes the order of its words, and `args` owns them */
	memcpy(words, args.v, (args.n + 1) * sizeof(*words));
	return w->reject ? cmd_discard((int)args.n, words) : cmd_merge((int)args.n, words);
}

static int check(const struct wish *w, const struct run_opts *run, struct err *e)
{
	bool merging = w->squash || w->rebase || w->no_ff || w->keep || w->into || w->message;

	if (w->approve + w->print + w->pager + !!w->reject + !!w->comments > 1)
		err_set(e, ERR_USAGE,
			"--approve, --reject, --print, --pager and --comments do not go together");
	else if (merging && !w->approve)
		err_set(e, ERR_USAGE, "options of a merge go with --approve");
	else if (w->pager && w->json)
		err_set(e, ERR_USAGE, "--pager and --json do not go together");
	else if (run->detach && (w->approve || w->reject || w->print || w->pager))
		err_set(e, ERR_USAGE, "--detach is for comments that are sent");
	else if (w->reject && !*w->reject)
		err_set(e, ERR_USAGE, "the reason is empty");
	else
		return 0;
	return err_hint(e, "garth review --help");
}

int cmd_review(int argc, char **argv)
{
	struct run_opts run = { 0 };
	struct wish w = { 0 };
	const struct opt opts[] = {
		{ 0, "approve", OPT_FLAG, &w.approve, NULL, "merge the commits that were reviewed" },
		{ 0, "reject", OPT_STR, &w.reject, "REASON", "discard the task, with the reason on record",
			WORD_TEXT },
		{ 0, "pager", OPT_FLAG, &w.pager, NULL, "only look, in the pager" },
		{ 0, "print", OPT_FLAG, &w.print, NULL, "print the file to be edited" },
		{ 0, "comments", OPT_STR, &w.comments, "FILE",
			"send the comments of this edited file; - is stdin", WORD_FILE },
		{ 0, "discard-draft", OPT_FLAG, &w.discard, NULL, "throw comments away that were not sent" },
		{ 'd', "detach", OPT_FLAG, &run.detach, NULL, "let the agent continue in the background" },
		{ 'q', "quiet", OPT_FLAG, &run.quiet, NULL, "print errors only" },
		{ 0, "squash", OPT_FLAG, &w.squash, NULL, "approve: merge as one commit" },
		{ 0, "rebase", OPT_FLAG, &w.rebase, NULL, "approve: put the commits on top of the target" },
		{ 0, "no-ff", OPT_FLAG, &w.no_ff, NULL, "approve: always make a merge commit" },
		{ 0, "into", OPT_STR, &w.into, "BRANCH", "approve: merge into this branch", WORD_BRANCH },
		{ 'm', "message", OPT_STR, &w.message, "TEXT", "approve: message of the commit", WORD_TEXT },
		{ 0, "keep", OPT_FLAG, &w.keep, NULL, "approve: keep the task and its workspace" },
		{ 0, "json", OPT_FLAG, &w.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "review", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (check(&w, &run, &e) < 0)
		return say_error(&e);
	if (w.approve || w.reject)
		return decide(argv[0], &w);
	if (cmd_open_task(CMD_NEEDS_GIT, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	if (!say_is_json())
		seen_mark(&c, &t);
	return review(&c, &t, &w, &run);
}
