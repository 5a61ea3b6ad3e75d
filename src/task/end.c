#include "task/end.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/merged.h"
#include "task/question.h"
#include "task/task.h"
#include "workspace/review.h"
#include "workspace/space.h"

#define NAMED_MAX 10

static void list(struct buf *note, const struct strvec *files)
{
	buf_printf(note, "uncommitted: ");
	for (size_t i = 0; i < files->n && i < NAMED_MAX; i++)
		buf_printf(note, "%s%s", i ? ", " : "", files->v[i] + 2);
	if (files->n > NAMED_MAX)
		buf_printf(note, " and %zu more", files->n - NAMED_MAX);
}

/* Adds why the task has not succeeded; nothing where it has. */
static int judge(struct context *c, struct task *t, struct buf *note, bool *ret_failed, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_strvec files = STRVEC_INIT;
	size_t ignored;
	int rc;

	if (task_open(c, t, &at, e) < 0)
		return -1;
	*ret_failed = !faccessat(at.ws.dir, TASK_UNPUBLISHED, F_OK, 0);
	if (*ret_failed && !note->len)
		buf_printf(note, "its gateway died before its last commits were published: garth publish %s",
			t->name);
	if (workspace_is_empty(t))
		return 0;
	rc = review_uncommitted(&at.ws, *t->published ? t->published : t->base, &files, &ignored, e);
	if (!rc && !files.n)
		return 0;
	if (note->len)
		buf_addstr(note, "; ");
	if (rc < 0)
		buf_printf(note, "what is uncommitted cannot be told: %s", e->msg);
	else
		list(note, &files);
	*ret_failed |= strcmp(t->on_dirty, "keep") != 0;
	return 0;
}

void task_end_begin(const struct task_run *r)
{
	auto_str path = xasprintf("%s/tasks/%lld/" TASK_UNPUBLISHED, r->home, (long long)r->task);
	auto_fd file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)file;
}

/* Whether the agent asks instead of having ended. */
static bool asks(struct context *c, struct task *t, enum run_end how)
{
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;
	bool ret = false;

	if (task_open(c, t, &at, &ignored) < 0 || question_take(&at, &ret, &ignored) < 0)
		return false;
	/* one that was stopped is not waited for */
	if (ret && how != RUN_ENDED)
		question_close(at.ws.dir, &ret, &ignored);
	return ret && how == RUN_ENDED;
}

/* Where it succeeded, what comes after it; 1 where it may be merged by that. */
static int do_then(struct context *c, struct task *t, const struct task_then *then, struct buf *note,
	int *exit_code, struct err *e)
{
	int rc = then->fn(c, t, then->arg, e);

	if (rc < 0) {
		buf_printf(note, "%s%s", note->len ? "; " : "", e->msg);
		*exit_code = 1;
	}
	return rc;
}

int task_end(const struct task_run *r, int exit_code, enum run_end how, const char *also,
	const struct task_then *then, struct err *e)
{
	auto_context c = { .home.fd = -1 };
	auto_task t = { 0 };
	auto_buf note = BUF_INIT(2000);
	bool failed = false, merged = false;

	if (!context_open(&c, e))
		space_use_reserve(&c.home);
	if (c.home.fd < 0 || context_store(&c, e) < 0 || store_task_by_id(c.store, r->task, &t, e) < 0)
		return task_run_end(r, exit_code, how, e), exit_code;
	buf_addstr(&note, t.note);
	if (*also)
		buf_printf(&note, "%s%s", note.len ? "; " : "", also);
	if (how == RUN_TIMED_OUT)
		buf_printf(&note, "%s" TASK_TIME_UP, note.len ? "; " : "");
	if (asks(&c, &t, how)) {
		how = RUN_ASKS;
		if (!exit_code)
			exit_code = err_exit_code(ERR_BLOCKED);
	} else if (judge(&c, &t, &note, &failed, e) < 0) {
		buf_printf(&note, "%s%s", note.len ? "; " : "", e->msg);
		failed = true;
	}
	if (then && how == RUN_ENDED && !exit_code && !failed)
		merged = do_then(&c, &t, then, &note, &exit_code, e) > 0;
	if (strcmp(buf_str(&note), t.note))
		store_task_note(c.store, t.id, buf_str(&note), e);
	if (failed && !exit_code)
		exit_code = 1;
	context_close_store(&c);
	if (!task_run_end(r, exit_code, how, e) && merged && merged_is(&c, &t)) {
		free(t.state);
		t.state = xstrdup(STATE_DONE);
		life_move(c.store, &t, STATE_MERGED, e);
	}
	return exit_code;
}
