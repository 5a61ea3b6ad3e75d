#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/ask.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/show_network.h"
#include "sys/fd.h"
#include "task/again.h"
#include "task/end.h"
#include "task/life.h"

static void say_next(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (*t->elsewhere && strcmp(t->state, STATE_MERGED) != 0)
		say_hint("garth publish %s --from %s", t->name, t->elsewhere);
	else if (!strcmp(t->state, STATE_FAILED) &&
		 (!strcmp(t->verdict, VERDICT_TIMEOUT) ||
			 (!home_task_dir(&c->home, t->id, &dir, &ignored) && again_owes_push(dir))))
		say_hint("garth resume %s", t->name);
	else
		say_hint(*t->published && !strcmp(t->state, STATE_DONE) ? "garth merge %s" : "garth diff %s",
			t->name);
}

/* Also printed if stderr is no terminal: why the task has failed, although its command may have succeeded. */
static void report_failure(struct context *c, const char *name, const struct terminal_result *r)
{
	auto_buf line = BUF_SMALL, note = BUF_SMALL;
	auto_task t = { 0 };
	struct err e = ERR_INIT;

	if (r->end == TERMINAL_DETACHED)
		return;
	if (task_find(c, name, &t, &e) < 0) {
		say_warning("how task '%s' ended is not known: %s", name, e.msg);
		return;
	}
	if (!r->exit_code) {
		tell_refused(c, &t);
		return;
	}
	/* its keeper is gone and has not written the end to the store */
	if (life_is_running(&t) || !strcmp(t.state, STATE_INTERRUPTED))
		say_warning("how task '%s' ended could not be written down", name);
	tell_refused(c, &t);
	if (!strcmp(t.state, STATE_BLOCKED)) {
		ask_tell(c, &t, false);
		return;
	}
	task_say(&t, &note);
	if (!note.len)
		return;
	say_warning("task '%s' is %s, %s", name, t.state, say_one_line(&line, note.data));
	say_next(c, &t);
}

static void say_end(const struct task *t)
{
	bool pushed = *t->pushed_tip && !strcmp(t->pushed_tip, t->published);

	if (strcmp(t->state, STATE_DONE) && strcmp(t->state, STATE_MERGED))
		say_state("task '%s' is %s, its command's exit code is %d", t->name, t->state, t->exit_code);
	else if (pushed)
		say_done("task '%s' is done, and pushed to %s of %s", t->name, t->pushed_branch,
			t->pushed_remote);
	else
		say_done("task '%s' is done", t->name);
}

void session_report(struct context *c, const char *name, const struct terminal_result *r, bool quiet)
{
	auto_buf line = BUF_SMALL, note = BUF_SMALL;
	auto_task t = { 0 };
	struct err ignored = ERR_INIT;

	if (quiet)
		return;
	if (!say_is_heard()) {
		report_failure(c, name, r);
		return;
	}
	if (r->end == TERMINAL_DETACHED) {
		/* the cursor may be in the middle of what the command drew */
		if (isatty(1))
			fputs("\r\n\033[J", stderr);
		if (!task_find(c, name, &t, &ignored) && !strcmp(t.state, STATE_PAUSED)) {
			say_state("task '%s' is paused", name);
			say_hint("garth resume %s", name);
			return;
		}
		say_state("task '%s' keeps running", name);
		say_hint("garth attach %s", name);
		return;
	}
	if (task_find(c, name, &t, &ignored) < 0)
		return;
	if (!strcmp(t.state, STATE_BLOCKED)) {
		tell_refused(c, &t);
		ask_tell(c, &t, false);
		return;
	}
	say_end(&t);
	task_say(&t, &note);
	if (note.len)
		say_warning("%s", say_one_line(&line, note.data));
	tell_refused(c, &t);
	say_next(c, &t);
}
