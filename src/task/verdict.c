#include "task/verdict.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list_text.h"
#include "base/size.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/merged.h"
#include "task/question.h"
#include "task/task.h"
#include "task/tickets.h"
#include "workspace/review.h"
#include "workspace/space.h"

#define NAMED_MAX 10

/* A line "S PATH" for each file, where S is git's status letter. */
static void list(struct buf *note, const struct strvec *files)
{
	char count[COUNT_TEXT_MAX];

	buf_printf(note, "%s uncommitted file%s", count_text(files->n, count), files->n == 1 ? "" : "s");
	list_lines(note, files, 2, NAMED_MAX);
}

struct judgement {
	const char *verdict; /* "" if there is nothing to report */
	struct buf left;     /* text about uncommitted files */
	bool elsewhere;      /* HEAD inside is still where task->elsewhere says */
};

/* Whether HEAD inside is still on the branch on which the gateway found commits that are not on the task's
 * branch. The agent controls all of this: it only selects the wording, never success or failure. */
static bool is_elsewhere(const struct task_at *at)
{
	const struct task *t = at->task;
	auto_fd git = open_beneath(at->ws.dir, "git", O_RDONLY | O_DIRECTORY, 0);
	auto_fd file = git < 0 || !*t->elsewhere ? -1 : open_regular_beneath(git, "HEAD");
	auto_str named = xasprintf("ref: refs/heads/%s\n", t->elsewhere);
	char text[4096];
	ssize_t n = file < 0 ? -1 : pread(file, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return !strcmp(t->elsewhere, "HEAD") ? strncmp(text, "ref:", 4) != 0 : !strcmp(text, named);
}

/* Tickets that it asked for, and has not merged (task/tickets.h). */
static void judge_tickets(struct context *c, struct task *t, struct task_at *at, struct judgement *ret)
{
	struct err e = ERR_INIT;
	auto_buf names = BUF_INIT(1000);

	if (!tickets_are_there(at->ws.dir) || (!tickets_open(c, &at->repo, t, &names, &e) && !names.len))
		return;
	buf_printf(&ret->left, "%sits tickets are not merged: %s", ret->left.len ? "; " : "",
		names.len ? buf_str(&names) : e.msg);
	if (!*ret->verdict)
		ret->verdict = VERDICT_TICKETS;
}

/* Finds out what a task leaves behind, and whether that is a failure. */
static int judge(struct context *c, struct task *t, struct judgement *ret, struct err *e)
{
	bool keeps = !strcmp(t->on_dirty, "keep");
	auto_task_at at = { .ws.dir = -1 };
	auto_strvec files = STRVEC_INIT;
	size_t ignored;
	int rc;

	ret->verdict = "";
	if (task_open(c, t, &at, e) < 0)
		return -1;
	if (!faccessat(at.ws.dir, TASK_UNPUBLISHED, F_OK, 0))
		ret->verdict = VERDICT_UNPUBLISHED;
	ret->elsewhere = is_elsewhere(&at);
	if (*ret->verdict && !*t->drafts)
		buf_printf(&ret->left,
			"its gateway died before its last commits were published: garth publish %s", t->name);
	if (!backend_of(t)->has_git)
		return 0;
	rc = review_uncommitted(&at.ws, *t->published ? t->published : t->base, &files, &ignored, e);
	if (!rc && !files.n)
		return judge_tickets(c, t, &at, ret), 0;
	if (ret->left.len)
		buf_addstr(&ret->left, "; ");
	if (rc < 0)
		buf_printf(&ret->left, "what is uncommitted cannot be told: %s", e->msg);
	else if (!ret->elsewhere)
		list(&ret->left, &files);
	if (!*ret->verdict)
		ret->verdict = keeps            ? VERDICT_KEPT
			       : rc < 0         ? VERDICT_UNKNOWN
			       : ret->elsewhere ? VERDICT_ELSEWHERE
						: VERDICT_UNCOMMITTED;
	judge_tickets(c, t, &at, ret);
	return 0;
}

void task_end_begin(const struct task_run *r)
{
	auto_str path = xasprintf("%s/tasks/%lld/" TASK_UNPUBLISHED, r->home, (long long)r->task);
	auto_fd file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)file;
}

/* Whether the agent left a question. */
static bool asks(struct context *c, struct task *t, enum run_end how)
{
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;
	bool ret = false;

	if (task_open(c, t, &at, &ignored) < 0 || question_take(&at, &ret, &ignored) < 0)
		return false;
	/* if the run was stopped, nobody waits for an answer */
	if (ret && how != RUN_ENDED)
		question_close(at.ws.dir, &ret, &ignored);
	return ret && how == RUN_ENDED;
}

/* Whether the command's exit code counts as a failure. */
static bool is_failure(const struct task_run *r, int exit_code)
{
	if (r->kind == SESSION_SHELL)
		return false;
	return exit_code && (r->kind == SESSION_BATCH || exit_code != 128 + SIGINT);
}

/* In an interactive session a person saw what is left. Commits that the gateway refused are still a
 * failure. */
static void be_lenient(const struct task_run *r, struct judgement *j)
{
	if (r->kind != SESSION_BATCH && *j->verdict && strcmp(j->verdict, VERDICT_UNPUBLISHED) != 0)
		j->verdict = VERDICT_KEPT;
}

/* Runs the step that follows a success. Returns 1 if it may have merged the task. */
static int do_then(struct context *c, struct task *t, const struct task_then *then, struct buf *note,
	struct judgement *j, struct err *e)
{
	int rc = then->fn(c, t, then->arg, e);

	if (rc < 0) {
		buf_printf(note, "%s%s", note->len ? "; " : "", e->msg);
		j->verdict = VERDICT_PUSH;
	}
	return rc;
}

static bool is_done(const char *verdict)
{
	return !*verdict || !strcmp(verdict, VERDICT_KEPT);
}

/* Combines everything that is known into the verdict, and adds reasons to the note. */
static void decide(struct context *c, struct task *t, const struct task_run *r, int exit_code,
	enum run_end how, struct buf *note, struct judgement *j)
{
	struct err e = ERR_INIT;

	if (judge(c, t, j, &e) < 0) {
		buf_printf(note, "%s%s", note->len ? "; " : "", e.msg);
		j->verdict = VERDICT_UNKNOWN;
	}
	be_lenient(r, j);
	if (how == RUN_TIMED_OUT) {
		buf_printf(note, "%sstopped when its time was up", note->len ? "; " : "");
		j->verdict = VERDICT_TIMEOUT;
	} else if (is_failure(r, exit_code)) {
		j->verdict = VERDICT_EXIT;
	}
}

int task_end(const struct task_run *r, int exit_code, enum run_end how, const char *also,
	const struct task_then *then, struct err *e)
{
	auto_context c = { .home.fd = -1 };
	auto_task t = { 0 };
	auto_buf note = BUF_INIT(2000);
	struct judgement j = { .verdict = exit_code ? VERDICT_EXIT : "", .left = BUF_INIT(2000) };
	bool merged = false;

	if (!context_open(&c, e))
		space_use_reserve(&c.home);
	if (c.home.fd < 0 || context_store(&c, e) < 0 || store_task_by_id(c.store, r->task, &t, e) < 0)
		return task_run_end(r, &(struct run_outcome){ how, exit_code, j.verdict, "" }, e), exit_code;
	buf_addstr(&note, t.note);
	if (*also)
		buf_printf(&note, "%s%s", note.len ? "; " : "", also);
	if (asks(&c, &t, how))
		how = RUN_ASKS;
	else
		decide(&c, &t, r, exit_code, how, &note, &j);
	if (then && how == RUN_ENDED && is_done(j.verdict))
		merged = do_then(&c, &t, then, &note, &j, e) > 0;
	if (strcmp(buf_str(&note), t.note))
		store_task_note(c.store, t.id, buf_str(&note), e);
	context_close_store(&c);
	if (!task_run_end(r, &(struct run_outcome){ how, exit_code, j.verdict, buf_str(&j.left) }, e) &&
		merged && merged_is(&c, &t)) {
		free(t.state);
		t.state = xstrdup(STATE_DONE);
		life_move(c.store, &t, STATE_MERGED, e);
	}
	buf_release(&j.left);
	if (exit_code)
		return exit_code;
	return how == RUN_ASKS ? err_exit_code(ERR_BLOCKED) : !is_done(j.verdict);
}

/* Whether task_judge_again may withdraw this verdict. */
static bool can_be_withdrawn(const char *verdict)
{
	static const char *const these[] = { VERDICT_UNCOMMITTED, VERDICT_ELSEWHERE, VERDICT_UNPUBLISHED,
		VERDICT_UNKNOWN, VERDICT_TICKETS };

	for (size_t i = 0; i < ARRAY_SIZE(these); i++)
		if (!strcmp(verdict, these[i]))
			return true;
	return false;
}

/* Whether the commits that were not on the task's branch are published by now. */
static bool has_drafts_no_more(const struct task *t, const struct judgement *j)
{
	if (!strcmp(j->verdict, VERDICT_UNPUBLISHED))
		return false;
	return !strcmp(t->verdict, VERDICT_UNPUBLISHED) || (*t->elsewhere && (!j->elsewhere || !*j->verdict));
}

static int judged(struct context *c, struct task *t, const struct judgement *j, struct err *e)
{
	bool withdrawable = can_be_withdrawn(t->verdict);
	const char *verdict = withdrawable || !strcmp(t->verdict, VERDICT_KEPT) ? j->verdict : t->verdict;

	/* a task that was no failure does not become one */
	if (!withdrawable && can_be_withdrawn(verdict))
		verdict = VERDICT_KEPT;
	if (store_begin(c->store, e) < 0)
		return -1;
	if (store_run_judged(c->store, t->id, verdict, buf_str(&j->left), e) < 0 ||
		(has_drafts_no_more(t, j) && store_run_drafts(c->store, t->id, "", "", e) < 0) ||
		(withdrawable && is_done(verdict) && !strcmp(t->state, STATE_FAILED) &&
			life_move(c->store, t, STATE_DONE, e) < 0) ||
		store_commit(c->store, e) < 0) {
		store_rollback(c->store);
		return -1;
	}
	return 0;
}

void task_judge_again(struct context *c, struct task *t)
{
	struct judgement j = { .left = BUF_INIT(2000) };
	struct err ignored = ERR_INIT;
	auto_task now = { 0 };

	if (context_store(c, &ignored) < 0 || store_task_by_id(c->store, t->id, &now, &ignored) < 0 ||
		life_is_running(&now) || !now.ended ||
		!(*now.leftover || *now.elsewhere || can_be_withdrawn(now.verdict)))
		return;
	if (!judge(c, &now, &j, &ignored) && !context_store(c, &ignored))
		judged(c, &now, &j, &ignored);
	buf_release(&j.left);
	task_release(&now);
	if (!context_store(c, &ignored) && !store_task_by_id(c->store, t->id, &now, &ignored)) {
		struct task old = *t;

		*t = now;
		now = old;
	}
}

void task_say_list(const struct task *t, struct buf *out)
{
	const char *const parts[] = { t->note, t->drafts, t->leftover };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i] && *parts[i])
			buf_printf(out, "%s%s", out->len ? "; " : "", parts[i]);
}

void task_say(const struct task *t, struct buf *out)
{
	auto_buf lines = BUF_SMALL;

	task_say_list(t, &lines);
	list_on_one_line(out, buf_str(&lines));
}
