#include "cli/review_edit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/editor.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/review_send.h"
#include "cli/say.h"
#include "cli/show_question.h"
#include "feedback/comments.h"
#include "feedback/prompt.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/tip.h"
#include "workspace/review.h"

void reviewing_release(struct reviewing *r)
{
	published_release(&r->p);
	review_dir_close(&r->kept);
	strvec_release(&r->uncommitted);
	task_at_close(&r->at);
	fd_closep(&r->dir);
}

int reviewing_open(struct reviewing *r, struct err *e)
{
	return task_open(r->c, r->t, &r->at, e) < 0 ? -1 : home_task_dir(&r->c->home, r->t->id, &r->dir, e);
}

static int read_task(struct reviewing *r, struct err *e)
{
	size_t ignored_files = 0;
	struct err why = ERR_INIT;

	if (!*r->p.tip && published_ids(&r->at, r->p.tip, r->p.fork, e) < 0)
		return -1;
	if (published_read(&r->at, &r->p, e) < 0)
		return -1;
	if (review_uncommitted(&r->at.ws, r->p.tip, &r->uncommitted, &ignored_files, &why) < 0)
		strvec_pushf(&r->uncommitted, "? (cannot tell: %s)", why.msg);
	return 0;
}

int reviewing_read(struct reviewing *r, struct err *e)
{
	int rc;

	progress_begin("comparing");
	rc = read_task(r, e);
	progress_end();
	return rc;
}

void reviewing_text(
	const struct reviewing *r, const struct comment_list *comments, bool read_only, struct buf *out)
{
	const struct annotated_heading h = { .task = r->t->name,
		.tip = r->p.tip,
		.fork = r->p.fork,
		.commits = &r->p.commits,
		.uncommitted = &r->uncommitted,
		.read_only = read_only };

	annotated_head(&r->p.lines, &h, out);
	comments_print(&r->p.lines, comments, out);
	annotated_tail(&h, out);
}

static int open_kept(struct reviewing *r, struct err *e)
{
	if (!review_dir_open(r->dir, &r->kept, e))
		return 0;
	return e->kind == ERR_BUSY
		       ? err_set(e, ERR_BUSY, "the review of task '%s' is open in another terminal",
				 r->t->name)
		       : -1;
}

/* Reads the comments of a kept review. If it shows another commit, they become general remarks. */
static void read_kept(struct reviewing *r, const struct buf *old, struct comment_list *ret)
{
	auto_published then = { 0 };
	struct err ignored = ERR_INIT;

	if (annotated_ids(buf_str(old), old->len, then.tip, then.fork))
		published_read(&r->at, &then, &ignored);
	comments_read(&then.lines, &then.patch, buf_str(old), old->len, ret);
	if (!strcmp(then.tip, r->p.tip) && !strcmp(then.fork, r->p.fork)) {
		if (!r->run.quiet)
			say_state("the comments from before are in the file again");
		for (size_t i = 0; i < ret->n; i++)
			ret->v[i].path = NULL; /* it is of `then` */
	} else {
		/* also with --quiet: it is not what the user left */
		say_state(
			"the branch of task '%s' has moved since the last review: its comments are at the top",
			r->t->name);
		prompt_carry(ret, *then.tip ? then.tip : "an earlier commit");
	}
}

/* Writes the file to be edited, with the comments that are kept. It is always made anew: lines that were changed by
 * accident are as they were. */
static int prepare(struct reviewing *r, struct err *e)
{
	auto_buf old = BUF_INIT(KEPT_MAX), text = BUF_INIT(KEPT_MAX);
	auto_comment_list comments = { 0 };
	struct err none = ERR_INIT;

	if (!r->discard && review_dir_read(&r->kept, &old, &none) < 0 && none.kind != ERR_NOTFOUND)
		return *e = none, -1;
	if (reviewing_read(r, e) < 0)
		return -1;
	if (comments_any(buf_str(&old), old.len))
		read_kept(r, &old, &comments);
	reviewing_text(r, &comments, false, &text);
	return text.overflow ? err_set(e, ERR_FAILED, "the diff is too long to be reviewed in one file")
			     : review_dir_write(&r->kept, &text, e);
}

/* Tells, before the user writes anything, what will become of it. */
static int check_receiver(struct reviewing *r, struct err *e)
{
	bool takes = false;

	if (runtime_can_prompt(r->c, r->t, &takes, e) < 0)
		return -1;
	if (r->run.quiet)
		return 0;
	if (!takes)
		say_warning("the command of task '%s' takes no prompt: it finds the comments in GARTH_ANSWER",
			r->t->name);
	if (!strcmp(r->t->state, STATE_BLOCKED)) {
		question_tell(r->c, r->t, true);
		say_state("the comments will be the answer");
	}
	return 0;
}

int reviewing_edit(struct reviewing *r, const char *editor)
{
	auto_str path = home_path(&r->c->home, "tasks/%lld/" REVIEW_FILE, (long long)r->t->id);
	auto_buf text = BUF_INIT(KEPT_MAX);
	struct err e = ERR_INIT;

	if (open_kept(r, &e) < 0 || prepare(r, &e) < 0 || check_receiver(r, &e) < 0)
		return say_error(&e);
	if (editor_run(editor, path, &e) < 0) {
		err_wrap(&e, "nothing is sent, and the file is kept (%s)", path);
		err_hint(&e, "garth review %s", r->t->name);
		return say_error(&e);
	}
	if (review_dir_set_shown(r->dir, r->p.tip, &e) < 0 || review_dir_read(&r->kept, &text, &e) < 0)
		return say_error(&e);
	return review_send(r, &text, path);
}

static int read_edited(const char *file, struct buf *text, struct err *e)
{
	auto_fd fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : dup(0);

	if (fd < 0)
		return err_sys(e, "cannot open '%s'", file);
	return read_rest(fd, text, "the review", e);
}

int reviewing_take(struct reviewing *r, const char *file)
{
	auto_str path = home_path(&r->c->home, "tasks/%lld/" REVIEW_FILE, (long long)r->t->id);
	auto_buf text = BUF_INIT(KEPT_MAX), old = BUF_INIT(KEPT_MAX);
	struct err e = ERR_INIT, none = ERR_INIT;

	if (check_receiver(r, &e) < 0 || read_edited(file, &text, &e) < 0)
		return say_error(&e);
	if (!annotated_ids(buf_str(&text), text.len, r->p.tip, r->p.fork)) {
		err_set(&e, ERR_USAGE, "'%s' is not a review: the line '# garth-review' is missing", file);
		err_hint(&e, "garth review --print %s", r->t->name);
		return say_error(&e);
	}
	if (open_kept(r, &e) < 0)
		return say_error(&e);
	if (!r->discard && !review_dir_read(&r->kept, &old, &none) && comments_any(buf_str(&old), old.len) &&
		(old.len != text.len || memcmp(old.data, text.data, old.len) != 0)) {
		err_set(&e, ERR_REFUSED,
			"another review of task '%s' is kept, and its comments were not sent (%s)",
			r->t->name, path);
		err_hint(&e, "garth review %s", r->t->name);
		return say_error(&e);
	}
	/* kept first: stdin cannot be read again */
	if (review_dir_write(&r->kept, &text, &e) < 0)
		return say_error(&e);
	if (tip_check(&r->at.repo, r->t, r->p.tip, &e) < 0 || reviewing_read(r, &e) < 0 ||
		review_dir_set_shown(r->dir, r->p.tip, &e) < 0)
		return review_fail_kept(r, path, &e);
	return review_send(r, &text, path);
}
