#include "acp/parts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/question.h"
#include "task/task.h"
#include "task/verdict.h"

/* What the agent asks, if the task waits for an answer. */
static bool add_question(const struct context *c, const struct task *t, struct buf *text)
{
	struct err ignored = ERR_INIT;
	auto_question q = { 0 };
	auto_fd dir = -1;

	if (strcmp(t->state, STATE_BLOCKED) || home_task_dir(&c->home, t->id, &dir, &ignored) < 0 ||
		question_load(dir, &q, &ignored) < 0)
		return false;
	buf_printf(text, "it asks: ");
	clean_text(text, q.text, strlen(q.text), false);
	buf_printf(text, "\ngarth answer %s \"...\"\n", t->name);
	return true;
}

static void add_state(const struct context *c, const struct task *t, struct buf *title, struct buf *text)
{
	bool failed = !strcmp(t->state, STATE_FAILED);
	auto_buf note = BUF_SMALL;

	buf_printf(title, "task '%s' %s%s", t->name, failed ? "" : "is ", t->state);
	if (failed && !strcmp(t->verdict, VERDICT_EXIT))
		buf_printf(title, ": exit code %d", t->exit_code);
	if (add_question(c, t, text))
		return;
	task_say(t, &note);
	if (note.len)
		buf_printf(text, "%s\n", note.data);
}

void farewell(const struct agent *g, struct buf *ret_title, struct buf *ret_text)
{
	struct acp *a = g->acp;
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	buf_printf(ret_text, "branch %s\n", g->branch);
	if (g->link.why.kind != ERR_NONE)
		buf_printf(ret_title, "task '%s': %s", g->name, g->link.why.msg);
	else if (task_find_id(&a->context, g->task, &t, &e) < 0)
		buf_printf(ret_title, "how task '%s' ended is not known: %s", g->name, e.msg);
	else
		add_state(&a->context, &t, ret_title, ret_text);
	buf_printf(ret_text, "garth diff %s", g->name);
}
