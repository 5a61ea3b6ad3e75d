#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/session.h"
#include "plan/ticket_runner.h"
#include "runtime/watch.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/tickets.h"

/* as of timeout(1) */
#define CODE_TIMEOUT 124

struct waited {
	struct task task;
	size_t at; /* its number in the watch */
	bool running;
};

struct wait {
	bool any, json;
	const char *time;
	uint64_t seconds; /* 0: no limit */
	struct watch watch;
	struct waited *v;
	size_t n;
};

static void wait_release(struct wait *w)
{
	for (size_t i = 0; i < w->n; i++)
		task_release(&w->v[i].task);
	free(w->v);
	watch_close(&w->watch);
}

/* It runs, or is going to be resumed by itself. */
static bool goes_on(struct context *c, const struct task *t)
{
	return life_is_running(t) || tickets_waits(c, t);
}

static int find(struct wait *w, struct context *c, const char *name, struct err *e)
{
	struct waited *new;
	auto_fd dir = -1;
	auto_task t = { 0 };

	if (cmd_find_task(c, name, &t, e) < 0 || tickets_wake(c, t.id, false, e) < 0)
		return -1;
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].task.id == t.id)
			return 0;
	w->v = xrealloc(w->v, w->n + 1, sizeof(*w->v));
	new = &w->v[w->n];
	*new = (struct waited){ .running = goes_on(c, &t) };
	if (new->running && watch_task(&w->watch, c, &t, false, &new->at, e) < 0)
		return -1;
	/* a task that waits for its tickets may be cancelled */
	if (new->running && !home_task_dir(&c->home, t.id, &dir, e) && tickets_are_there(dir))
		watch_file(&w->watch, dir, TICKETS_FILE);
	if (!strcmp(t.state, STATE_PAUSED)) {
		say_warning("task '%s' is paused", t.name);
		say_hint("garth resume %s", t.name);
	}
	new->task = t;
	t = (struct task){ 0 };
	w->n++;
	return 0;
}

/* As of `garth run`: the command's code, or 1 if the task failed although the command did not. */
static int code_of(const struct task *t)
{
	if (!strcmp(t->state, STATE_BLOCKED))
		return err_exit_code(ERR_BLOCKED);
	if (t->exit_code)
		return t->exit_code;
	return !strcmp(t->state, STATE_FAILED) || !strcmp(t->state, STATE_CANCELLED) ||
	       !strcmp(t->state, STATE_INTERRUPTED);
}

static void tell(struct context *c, const struct wait *w, const struct task *t)
{
	const struct terminal_result r = { .end = TERMINAL_EXIT, .unseen = true };

	if (w->any && !w->json)
		printf("%s\n", t->name);
	if (strcmp(t->state, STATE_INTERRUPTED) != 0) {
		session_report(c, t, &r, w->json);
		return;
	}
	say_state("task '%s' is interrupted", t->name);
	say_hint("garth resume %s", t->name);
}

/* Reads tasks again whose keeper is gone. *ret: so many have ended by now. */
static int look(struct wait *w, struct context *c, size_t *ret, struct err *e)
{
	size_t ended = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct waited *one = &w->v[i];
		auto_task now = { 0 };

		if (one->running && !watch_is_running(&w->watch, one->at)) {
			if (task_find_id(c, one->task.id, &now, e) < 0)
				return err_wrap(e, "task '%s'", one->task.name);
			/* somebody may have resumed it meanwhile */
			one->running = goes_on(c, &now);
			task_release(&one->task);
			one->task = now;
			now = (struct task){ 0 };
		}
		ended += !one->running;
	}
	context_close_store(c);
	*ret = ended;
	return 0;
}

static int wait_for(struct wait *w, struct context *c, bool *ret_late, struct err *e)
{
	struct deadline d = deadline_in((int64_t)w->seconds * 1000);
	size_t ended = 0;

	progress_begin(w->n == 1 ? "waiting for the task" : "waiting for the tasks");
	for (;;) {
		if (look(w, c, &ended, e) < 0)
			return -1;
		if (ended == w->n || (ended && w->any))
			return 0;
		if (!watch_wait(&w->watch, -1, w->time ? &d : NULL))
			return *ret_late = true, 0;
	}
}

/* With --any, only the first one that has ended counts. */
static int report(const struct wait *w, struct context *c, bool late)
{
	json_t *tasks = json_array();
	auto_strvec waiting = STRVEC_INIT;
	bool told = false;
	int code = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct task *t = &w->v[i].task;

		if (w->v[i].running) {
			strvec_push(&waiting, t->name);
			continue;
		}
		if (w->json)
			json_array_append_new(tasks, json_task(t));
		if (w->any && told)
			continue;
		tell(c, w, t);
		told = true;
		code = code ? code : code_of(t);
	}
	for (size_t i = 0; late && i < waiting.n; i++)
		say_warning("task '%s' is still running after %s", waiting.v[i], w->time);
	if (w->json)
		json_print(json_pack("{s:O, s:o}", "tasks", tasks, "waiting", json_list(&waiting)));
	json_decref(tasks);
	return late ? CODE_TIMEOUT : code;
}

int cmd_wait(int argc, char **argv)
{
	__attribute__((cleanup(wait_release))) struct wait w = { .watch = WATCH_INIT };
	const struct opt opts[] = {
		{ 0, "any", OPT_FLAG, &w.any, NULL,
			"return when one of the tasks has ended, and print its name" },
		{ 0, "timeout", OPT_STR, &w.time, "TIME", "wait no longer than this, such as 30s, 15m or 2h",
			WORD_TEXT },
		{ 0, "json", OPT_FLAG, &w.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "wait", opts, 1, -1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	bool late = false;
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (w.time && !duration_parse(w.time, &w.seconds))
		return err_set(&e, ERR_USAGE,
			       "--timeout must be a time, such as " DURATION_EXAMPLES ", not '%s'", w.time),
		       say_error(&e);
	if (context_open_to_look(&c, &e) < 0)
		return say_error(&e);
	for (int i = 0; i < l.words; i++)
		if (find(&w, &c, argv[i], &e) < 0)
			return say_error(&e);
	rc = wait_for(&w, &c, &late, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	return report(&w, &c, late);
}
