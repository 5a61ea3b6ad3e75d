#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/show_network.h"
#include "cli/show_question.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/push_owed.h"
#include "task/seen.h"
#include "task/verdict.h"

static void say_next(struct context *c, const struct task *t, bool unseen)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (*t->elsewhere && strcmp(t->state, STATE_MERGED) != 0)
		say_hint("garth publish %s --from %s", t->name, t->elsewhere);
	else if (!strcmp(t->state, STATE_FAILED) &&
		 (!strcmp(t->verdict, VERDICT_TIMEOUT) ||
			 (!home_task_dir(&c->home, t->id, &dir, &ignored) && push_owed(dir))))
		say_hint("garth resume %s", t->name);
	else if (unseen && !strcmp(t->state, STATE_FAILED) && !strcmp(t->verdict, VERDICT_EXIT))
		say_hint("garth log %s", t->name);
	else
		say_hint(*t->published && !strcmp(t->state, STATE_DONE) ? "garth merge %s" : "garth diff %s",
			t->name);
}

/* "failed: 1,489 uncommitted files", with the files below. */
static void say_failed(const struct task *t, const struct buf *note)
{
	if (strcmp(t->verdict, VERDICT_EXIT) != 0 && note->len)
		say_failure("task '%s' failed: %s", t->name, note->data);
	else
		say_failure("task '%s' failed: exit code %d%s%s", t->name, t->exit_code,
			note->len ? "; " : "", buf_str(note));
}

static void say_end(const struct task *t)
{
	bool pushed = *t->pushed_tip && !strcmp(t->pushed_tip, t->published);
	auto_buf note = BUF_SMALL;

	task_say_list(t, &note);
	if (!strcmp(t->state, STATE_FAILED))
		say_failed(t, &note);
	else if (strcmp(t->state, STATE_DONE) && strcmp(t->state, STATE_MERGED))
		say_state("task '%s' is %s%s%s", t->name, t->state, note.len ? ": " : "", buf_str(&note));
	else if (note.len && strcmp(t->verdict, VERDICT_KEPT) != 0)
		say_warning("task '%s' is done: %s", t->name, note.data);
	else if (note.len)
		say_done("task '%s' is done: %s", t->name, note.data);
	else if (pushed)
		say_done("task '%s' is done, and pushed to %s of %s", t->name, t->pushed_branch,
			t->pushed_remote);
	else
		say_done("task '%s' is done", t->name);
}

static void say_detached(struct context *c, const struct task *of, bool drew)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	/* the cursor may be in the middle of what the command drew */
	if (drew && isatty(1) && isatty(2))
		fputs("\r\n\033[J", stderr);
	if (!task_find_id(c, of->id, &t, &ignored) && !strcmp(t.state, STATE_PAUSED)) {
		say_state("task '%s' is paused", of->name);
		say_hint("garth resume %s", of->name);
		return;
	}
	say_state("task '%s' is running", of->name);
	say_hint("garth attach %s", of->name);
}

/* It ended in front of the user. */
static void mark_seen(struct context *c, const struct task *of)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	if (!task_find_id(c, of->id, &t, &ignored))
		seen_mark(c, &t);
}

void session_report(struct context *c, const struct task *of, const struct terminal_result *r, bool quiet)
{
	auto_task t = { 0 };
	struct err e = ERR_INIT;

	if (r->end == TERMINAL_EXIT && say_is_heard())
		mark_seen(c, of);
	if (quiet)
		return;
	if (r->end == TERMINAL_DETACHED) {
		say_detached(c, of, !r->unseen);
		return;
	}
	if (task_find_id(c, of->id, &t, &e) < 0) {
		say_warning("how task '%s' ended is not known: %s", of->name, e.msg);
		return;
	}
	tell_refused(c, &t);
	/* its keeper is gone and has not written the end to the store */
	if (life_is_running(&t) || !strcmp(t.state, STATE_INTERRUPTED)) {
		say_warning("how task '%s' ended could not be written down", of->name);
		return;
	}
	if (!strcmp(t.state, STATE_BLOCKED)) {
		question_tell(c, &t, false);
		return;
	}
	say_end(&t);
	say_next(c, &t, r->unseen);
}
