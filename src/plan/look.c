#include "plan/look.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "keeper/log.h"
#include "plan/check_judge.h"
#include "plan/quota.h"
#include "plan/resolution.h"
#include "plan/start.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/own_config.h"
#include "task/question.h"
#include "task/refused_path.h"
#include "task/task.h"
#include "task/verdict.h"

#define TAIL_MAX  4096
#define WAITS_MAX 100
/* The longest wait. The time is only what the agent printed, and it delays every stage on its log-in. */
#define QUOTA_MAX (6 * 3600)

static int read_tail(struct stage_job *j, const struct task *t, char *out, size_t *ret_len)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1, log = -1;
	struct stat st;
	ssize_t n;

	if (home_task_dir(&j->c->home, t->id, &dir, &ignored) < 0)
		return -1;
	log = openat(dir, LOG_NEW, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (log < 0 || fstat(log, &st) < 0)
		return -1;
	n = pread(log, out, TAIL_MAX, st.st_size > TAIL_MAX ? st.st_size - TAIL_MAX : 0);
	*ret_len = n > 0 ? (size_t)n : 0;
	out[*ret_len] = '\0';
	return 0;
}

/* The time after a '|' on the line of the text, limited; 0: there is none, or it is past. */
static int64_t time_on_line(const char *at)
{
	const char *end = at + strcspn(at, "\n"), *bar = memchr(at, '|', (size_t)(end - at));
	int64_t now = time(NULL), then = bar ? strtoll(bar + 1, NULL, 10) : 0;

	if (then <= now)
		return 0;
	return then < now + QUOTA_MAX ? then : now + QUOTA_MAX;
}

/* Whether the agent says at the end of its output that its model takes no more requests; until when. */
static int64_t find_quota(struct stage_job *j, const struct task *t, const struct config_agent *a)
{
	char tail[TAIL_MAX + 1];
	size_t len = 0;

	if (!a || !a->quota.n || read_tail(j, t, tail, &len) < 0)
		return 0;
	for (size_t i = 0; i < a->quota.n; i++) {
		const char *at = memmem(tail, len, a->quota.v[i], strlen(a->quota.v[i]));
		int64_t then = at ? time_on_line(at) : 0;

		if (at)
			return then ? then : (int64_t)time(NULL) + (int64_t)j->c->config.plan_quota_wait;
	}
	return 0;
}

/* This does not count as an attempt, but it must not go on for ever. Other stages on its log-in wait too. */
static int wait_for_quota(struct stage_job *j, const char *agent, int64_t until, struct err *e)
{
	if (++j->at->waits > WAITS_MAX)
		return stage_give_up(
			j, e, "the model of %s took no more requests, %d times", agent, WAITS_MAX);
	if (quota_set(j, agent, until, e) < 0)
		return -1;
	j->at->until = until;
	if (j->at->attempt)
		j->at->attempt--;
	return stage_move(
		j->c->store, j->at, STAGE_QUOTA, e, "the model of %s takes no more requests", agent);
}

static int crashed(struct stage_job *j, const char *how, struct err *e)
{
	auto_str prompt = NULL;

	j->at->crashes++;
	if (j->at->crashes > (int64_t)j->plan->retries.crash)
		return stage_give_up(j, e, "%s", how);
	prompt = xasprintf(
		"Your last run %s before the stage was done. Look at what is there, and go on.", how);
	stage_set(&j->at->prompt, prompt);
	return stage_move(j->c->store, j->at, STAGE_REWORK, e, "%s", how);
}

/* Not everything that the agent left is committed and published. */
static int not_clean(struct stage_job *j, const struct task *t, struct err *e)
{
	auto_buf said = BUF_SMALL, prompt = BUF_SMALL;

	task_say(t, &said);
	j->at->failures++;
	if (j->at->failures > (int64_t)j->plan->retries.check)
		return stage_give_up(j, e, "%.800s", buf_str(&said));
	buf_addstr(&prompt, "The stage is not done: not all of your work is committed on the branch ");
	buf_printf(&prompt, "%s.\n\n", t->branch + strlen("refs/heads/"));
	buf_printf(&prompt, "%s\n\nCommit what belongs to it, remove the rest, and end.\n", buf_str(&said));
	stage_set(&j->at->prompt, buf_str(&prompt));
	return stage_move(j->c->store, j->at, STAGE_REWORK, e, "%.800s", buf_str(&said));
}

/* Its commits were refused for a path that the user can allow. */
static char *refused_path(struct stage_job *j, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_buf clean = BUF_SMALL;
	auto_str path = NULL;
	auto_fd dir = -1;

	if (!home_task_dir(&j->c->home, t->id, &dir, &ignored))
		path = refused_path_load(dir);
	if (!path)
		return NULL;
	clean_line(&clean, path);
	return xasprintf("%.400s", buf_str(&clean));
}

static bool has_left_something(const struct task *t)
{
	return t->exit_code || !strcmp(t->verdict, VERDICT_UNPUBLISHED) ||
	       !strcmp(t->verdict, VERDICT_UNCOMMITTED);
}

static int wants_path(struct stage_job *j, const char *path, struct err *e)
{
	auto_str prompt = xasprintf(
		"The user has answered your request to change '%s'. Commit again, and go on.", path);

	stage_set(&j->at->prompt, prompt);
	stage_set(&j->at->back, STAGE_REWORK);
	stage_set(&j->at->gate, GATE_PATH);
	return stage_move(j->c->store, j->at, STAGE_ASKING, e, "it wants to change '%s'", path);
}

static int failed(struct stage_job *j, const struct task *t, struct err *e)
{
	const struct config_agent *a = NULL;
	const char *agent;
	auto_str path = NULL, how = NULL;
	int64_t until;

	if (stage_agent(&j->c->config, j->plan, j->stage, &agent, e) < 0)
		return -1;
	a = config_agent_by_name(&j->c->config, agent);
	until = find_quota(j, t, a);
	if (until)
		return wait_for_quota(j, agent, until, e);
	if (!strcmp(t->verdict, VERDICT_TIMEOUT))
		return crashed(j, "was stopped when its time was up", e);
	if (has_left_something(t) && (path = refused_path(j, t)))
		return wants_path(j, path, e);
	if (t->exit_code) {
		how = xasprintf("ended with exit code %d", t->exit_code);
		return crashed(j, how, e);
	}
	return not_clean(j, t, e);
}

/* "Which? (this, that)" */
static void add_question(const struct question *q, struct buf *out)
{
	auto_buf all = BUF_INIT(2 * QUESTION_MAX + 1000);

	buf_addstr(&all, q->text);
	for (size_t i = 0; i < q->options.n; i++)
		buf_printf(&all, "%s%s", i ? ", " : " (", q->options.v[i]);
	if (q->options.n)
		buf_addch(&all, ')');
	clean_line(out, buf_str(&all));
}

static int asks(struct stage_job *j, const struct task *t, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_question q = { 0 };
	auto_buf text = BUF_SMALL;
	auto_fd dir = -1;

	if (!home_task_dir(&j->c->home, t->id, &dir, &ignored) && !question_load(dir, &q, &ignored))
		add_question(&q, &text);
	stage_set(&j->at->back, STAGE_REWORK);
	stage_set(&j->at->gate, "");
	return stage_move(j->c->store, j->at, STAGE_ASKING, e, "it asks: %.800s", buf_str(&text));
}

static int done(struct stage_job *j, const struct task *t, struct err *e)
{
	stage_set(&j->at->tip, *t->published ? t->published : t->base);
	return stage_move(j->c->store, j->at, STAGE_CHECKING, e, "%s", "");
}

int stage_is_gone(struct stage_job *j, struct err *e)
{
	*e = (struct err)ERR_INIT;
	j->at->task_id = 0;
	return stage_give_up(j, e, "its task was discarded: 'garth undo %s' brings it back", j->at->task);
}

/* The states of a task that has ended, and what follows for the stage. */
static const struct {
	const char *state;
	int (*then)(struct stage_job *j, const struct task *t, struct err *e);
} ends[] = { { STATE_DONE, done }, { STATE_MERGED, done }, { STATE_FAILED, failed },
	{ STATE_BLOCKED, asks } };

static int ended(struct stage_job *j, const struct task *t, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!strcmp(ends[i].state, t->state))
			return ends[i].then(j, t, e);
	if (!strcmp(t->state, STATE_CANCELLED))
		return stage_move(j->c->store, j->at, STAGE_CANCELLED, e, "its task was cancelled");
	return crashed(j, "was interrupted", e);
}

int stage_look(struct stage_job *j, bool *ret_moved, struct err *e)
{
	bool asking = stage_is(j->at, STAGE_ASKING);
	auto_task t = { 0 };

	*ret_moved = false;
	if (context_store(j->c, e) < 0)
		return -1;
	if (task_find_id(j->c, j->at->task_id, &t, e) < 0)
		return e->kind != ERR_NOTFOUND ? -1 : (*ret_moved = true, stage_is_gone(j, e));
	if (life_is_running(&t)) {
		*ret_moved = asking;
		return asking ? stage_move(j->c->store, j->at, STAGE_RUNNING, e, "%s", "") : 0;
	}
	/* a command of the user runs there, or the verdict is not ready yet */
	if (task_is_busy(j->c, &t))
		return 0;
	if (asking && (!strcmp(t.state, STATE_BLOCKED) || !strcmp(t.state, STATE_FAILED)))
		return 0;
	*ret_moved = true;
	return ended(j, &t, e);
}
