#include "plan/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "keeper/wire.h"
#include "plan/check_stage.h"
#include "plan/make.h"
#include "plan/resolution.h"
#include "plan/stage_brief.h"
#include "plan/stage_config.h"
#include "plan/stage_task.h"
#include "plan/stage_words.h"
#include "plan/ticket_task.h"
#include "runtime/run.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/agent_name.h"
#include "task/installed_agent.h"
#include "task/life.h"
#include "task/own_config.h"
#include "task/stage_ask.h"
#include "task/stage_files.h"
#include "task/task.h"
#include "task/task_command.h"

#define BRIEF_NAME "brief.md"
#define CONFIG_MAX (1u << 20)
/* The prompt for a run that continues, if there is no other. */
#define GO_ON "Go on, and end when everything is committed."

void stage_agent_default(struct context *c)
{
	const struct config_agent *a;
	size_t n;

	if (c->config.default_agent)
		return;
	a = installed_agent(c, &n, NULL);
	if (n == 1)
		c->config.default_agent = xstrdup(a->name);
}

int stage_agent(const struct config *c, const struct plan *p, const struct plan_stage *s, const char **ret,
	struct err *e)
{
	*ret = s->agent ? s->agent : p->agent ? p->agent : c->default_agent;
	if (*ret)
		return 0;
	err_set(e, ERR_USAGE,
		"stage '%s' has no agent: neither it nor the plan nor agents.default names one, and not just one is installed",
		s->id);
	return err_hint(e, "garth agent ls");
}

static void add_left(const char *title, const struct buf *left, struct buf *out)
{
	if (!left->len)
		return;
	buf_printf(out, "\n## %s of its agent\n\n", title);
	stage_add_fenced(out, buf_str(left));
}

/* What the stage's agents left for the stages after it: its own agent, and one that solved a conflict. */
static void load_left(
	const struct stage_job *j, const struct stage_row *r, struct buf *notes, struct buf *outputs)
{
	const int64_t tasks[] = { r->own_id, r->task_id };

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct err ignored = ERR_INIT;
		auto_fd dir = -1;

		if (!tasks[i] || home_task_dir(&j->c->home, tasks[i], &dir, &ignored) < 0)
			continue;
		stage_notes_load(dir, notes);
		stage_outputs_load(dir, outputs);
	}
}

/* What a stage was to do, how it ended, and its notes. */
static int put_stage(const struct stage_job *j, size_t i, int files, struct err *e)
{
	const struct plan_stage *s = &j->plan->stages[i];
	const struct stage_row *r = &j->all->v[i];
	auto_str name = xasprintf("%s.md", s->id), outputs_name = xasprintf("%s.outputs", s->id);
	auto_buf notes = BUF_INIT(8 * STAGE_NOTES_MAX), outputs = BUF_INIT(8 * STAGE_OUTPUTS_MAX);
	auto_buf text = BUF_INIT(CONFIG_MAX);

	buf_printf(&text, "# %s: %s\n\nstate: %s\n", s->id, s->name ? s->name : s->id, r->state);
	if (*r->tip)
		buf_printf(&text, "commit: %s\n", r->tip);
	if (s->description)
		buf_printf(&text, "\n## What it was to do\n\n%s\n", s->description);
	load_left(j, r, &notes, &outputs);
	add_left("Notes", &notes, &text);
	add_left("Outputs", &outputs, &text);
	if (outputs.len && stage_files_put(files, outputs_name, buf_str(&outputs), outputs.len, e) < 0)
		return -1;
	return stage_files_put(files, name, buf_str(&text), text.len, e);
}

static bool needs(const struct plan_stage *s, size_t i)
{
	for (size_t k = 0; k < s->nneeds; k++)
		if (s->needs[k] == i)
			return true;
	return false;
}

/* Writes the files of the stages that this one depends on. A stage about the work as a whole sees those of all stages that
 * are done. */
static int put_stages(const struct stage_job *j, int files, struct err *e)
{
	bool whole = j->stage->type != PLAN_STANDARD && j->stage->type != PLAN_CODE_REVIEW;

	for (size_t i = 0; j->all && i < j->all->n; i++)
		if ((needs(j->stage, i) || (whole && stage_is(&j->all->v[i], STAGE_DONE))) &&
			put_stage(j, i, files, e) < 0)
			return -1;
	return 0;
}

/* Writes the stage's files and configuration, before each run. */
static int tell(struct stage_job *j, const struct task *t, int dir, const char *agent, struct buf *brief,
	struct err *e)
{
	auto_str inside = stage_files_inside(j->c, t);
	auto_buf config = BUF_INIT(CONFIG_MAX);
	auto_fd files = -1;

	stage_config(&j->c->config, j, &config);
	stage_brief(j, inside, brief);
	if (j->at->own_id)
		resolution_brief(j, !t->started, brief);
	if (config.overflow || brief->overflow)
		return err_set(e, ERR_CONFIG, "what the plan says of stage '%s' is too long", j->at->name);
	if (stage_files_open(dir, &files, e) < 0 || put_stages(j, files, e) < 0 ||
		stage_files_put(files, BRIEF_NAME, buf_str(brief), brief->len, e) < 0)
		return -1;
	stage_ask_forget(dir);
	/* the plan may have been changed since the last run */
	if ((!t->started && ticket_task_layers(j, dir, e) < 0) ||
		own_config_keep_stage(dir, buf_str(&config), config.len, e) < 0)
		return -1;
	if (t->started)
		return 0;
	if (strcmp(agent, STAGE_AGENT_SCRIPT) != 0 && agent_name_save(dir, agent, e) < 0)
		return -1;
	return stage_files_hide(dir, e);
}

/* The command of the stage's first run. */
static int make_words(const struct stage_job *j, const struct task *t, const struct config_agent *a,
	const struct buf *brief, struct strvec *ret, struct err *e)
{
	auto_str inside = stage_files_inside(j->c, t), file = xasprintf("%s/" BRIEF_NAME, inside);
	auto_str pointer = xasprintf("Read the file %s, and do what it says.", file);
	char session[37];
	const struct stage_words w = { brief->len > STAGE_BRIEF_MAX ? pointer : buf_str(brief), file, session,
		j->stage->model, j->stage->effort };

	if (!a) {
		strvec_pushl(ret, "/bin/sh", "-ec", j->stage->script ? j->stage->script : ":", NULL);
		return 0;
	}
	return runtime_session(j->c, t, session, e) < 0 ? -1 : stage_words_make(a, &w, ret, e);
}

static void set_env(const struct stage_job *j, struct strvec *env)
{
	strvec_pushf(env, j->row->tickets ? "GARTH_PARENT=%s" : "GARTH_PLAN=%s",
		j->row->tickets ? j->row->name : j->plan->id);
	strvec_pushf(env, j->row->tickets ? "GARTH_TICKET=%s" : "GARTH_STAGE=%s", j->stage->id);
	strvec_pushf(env, "GARTH_ATTEMPT=%lld", (long long)j->at->attempt);
}

int start_let_go(int conn, struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;

	while (wire_recv(conn, &type, &body) > 0) {
		if (type == WIRE_FAIL) {
			memcpy(e, body.data, sizeof(*e));
			return -1;
		}
		if (type == WIRE_EXIT)
			return 0;
		if (type == WIRE_STARTED)
			break;
	}
	wire_send(conn, WIRE_DETACH, NULL, 0);
	return 0;
}

static int run_first(struct stage_job *j, struct task *t, const struct config_agent *a,
	const struct buf *brief, const struct strvec *env, uint64_t seconds, struct err *e)
{
	const char *cwd = j->stage->working_dir;
	auto_strvec words = STRVEC_INIT, all = STRVEC_INIT;
	struct run_opts o = { .agent = a,
		.env = &all,
		.timeout = seconds,
		.literal = true,
		.cwd = cwd && strcmp(cwd, ".") ? cwd : NULL,
		.quiet = true };
	auto_fd conn = -1;
	int rc;

	if (make_words(j, t, a, brief, &words, e) < 0 || ticket_task_options(j, &o, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < env->n; i++)
		strvec_push(&all, env->v[i]);
	if (ticket_task_network(j, &o, e) < 0)
		return -1;
	rc = runtime_run(j->c, t, &o, words.v, &conn, e);
	network_release(&o.net);
	return rc < 0 ? -1 : start_let_go(conn, e);
}

static int run_again(
	struct stage_job *j, struct task *t, const struct strvec *env, uint64_t seconds, struct err *e)
{
	struct run_opts o = { .env = env, .quiet = true, .timeout = seconds };
	auto_fd conn = -1;
	int rc = runtime_resume(j->c, t, &o, *j->at->prompt ? j->at->prompt : GO_ON, &conn, e);

	network_release(&o.net);
	free((void *)o.ports);
	return rc < 0 ? -1 : start_let_go(conn, e);
}

/* Stores the id of the last run, so that after a crash it is known whether another one has begun. */
static int note_start(struct stage_job *j, const struct task *t, struct err *e)
{
	if (j->at->starting)
		return 0;
	if (context_store(j->c, e) < 0 || store_run_last(j->c->store, t->id, &j->at->run, e) < 0 ||
		(j->at->own_id && store_allow_also(j->c->store, j->at->own_id, t->id, e) < 0))
		return -1;
	j->at->starting = true;
	j->at->task_id = t->id;
	j->at->attempt++;
	return store_stage_write(j->c->store, j->at, e);
}

static int has_started(struct stage_job *j, const struct task *t, bool *ret, struct err *e)
{
	int64_t last;

	if (context_store(j->c, e) < 0 || store_run_last(j->c->store, t->id, &last, e) < 0)
		return -1;
	*ret = last > j->at->run;
	return 0;
}

static int is_running(struct stage_job *j, struct err *e)
{
	j->at->starting = false;
	stage_set(&j->at->prompt, "");
	if (context_store(j->c, e) < 0 || stage_move(j->c->store, j->at, STAGE_RUNNING, e, "%s", "") < 0)
		return -1;
	fault("plan-stage-running");
	return 0;
}

/* Whether the next run begins a new conversation: the plan was changed since the last one, and the stage has another agent or
 * script now. */
static bool begins_anew(struct stage_job *j, const struct task *t, const struct config_agent *a)
{
	auto_task_command cmd = { 0 };
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (home_task_dir(&j->c->home, t->id, &dir, &ignored) < 0 ||
		task_command_load(dir, &cmd, &ignored) < 0)
		return false;
	if (a)
		return !cmd.agent || strcmp(cmd.agent, a->name) != 0;
	return cmd.argv.n != 3 || strcmp(cmd.argv.v[2], j->stage->script ? j->stage->script : ":") != 0;
}

/* A stage has its time for each run. A ticket has it for all runs together, because its task can ask for runs. */
static int find_time(struct stage_job *j, const struct task *t, uint64_t *ret, struct err *e)
{
	*ret = j->stage->timeout;
	return j->row->tickets && *ret ? ticket_task_time(j->c, t, *ret, ret, e) : 0;
}

static int has_no_time(struct stage_job *j, struct err *e)
{
	auto_str why = xstrdup(e->msg);

	*e = (struct err)ERR_INIT;
	j->at->starting = false;
	return stage_move(j->c->store, j->at, STAGE_FAILED, e, "%s", why);
}

static int run_it(
	struct stage_job *j, struct task *t, const char *agent, const struct buf *brief, struct err *e)
{
	const struct config_agent *a = NULL;
	auto_strvec env = STRVEC_INIT;
	bool started = false;
	uint64_t seconds = 0;

	if (has_started(j, t, &started, e) < 0)
		return -1;
	/* the run had begun before a crash */
	if (started)
		return is_running(j, e);
	set_env(j, &env);
	if (find_time(j, t, &seconds, e) < 0)
		return e->kind == ERR_REFUSED ? has_no_time(j, e) : -1;
	if (runtime_configure(j->c, t, e) < 0 ||
		(strcmp(agent, STAGE_AGENT_SCRIPT) && config_agent_find(&j->c->config, agent, &a, e) < 0))
		return -1;
	if ((t->started && !begins_anew(j, t, a) ? run_again(j, t, &env, seconds, e)
						 : run_first(j, t, a, brief, &env, seconds, e)) < 0)
		return -1;
	fault("plan-stage-run");
	return is_running(j, e);
}

/* Checks read the configuration again, which frees the name in it: copy it first. */
static int name_agent(struct stage_job *j, char **ret, struct err *e)
{
	const char *agent;

	if (stage_agent(&j->c->config, j->plan, j->stage, &agent, e) < 0)
		return -1;
	*ret = xstrdup(agent);
	return 0;
}

int stage_start(struct stage_job *j, struct err *e)
{
	auto_buf brief = BUF_INIT(1u << 20);
	auto_task t = { 0 };
	auto_str agent = NULL;
	auto_lock lock = -1;
	auto_fd dir = -1;
	bool failed = false;

	if (name_agent(j, &agent, e) < 0 || stage_task(j, &t, e) < 0)
		return -1;
	fault("plan-stage-task");
	/* only before its first run, on the commit that it begins from */
	if (!t.started && !j->at->starting && !j->at->own_id && stage_check_before(j, t.base, &failed, e) < 0)
		return -1;
	if (failed)
		return 0;
	if (home_task_dir(&j->c->home, t.id, &dir, e) < 0 || tell(j, &t, dir, agent, &brief, e) < 0)
		return -1;
	fault("plan-stage-told");
	if (plan_lock_start(j->c, j->at, &lock, e) < 0 || note_start(j, &t, e) < 0)
		return -1;
	fault("plan-stage-noted");
	return run_it(j, &t, agent, &brief, e);
}
