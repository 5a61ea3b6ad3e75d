#include "plan/check_task.h"

#include <string.h>

#include "base/alloc.h"
#include "plan/stage_config.h"
#include "plan/ticket_task.h"
#include "runtime/add_layers.h"
#include "runtime/run.h"
#include "runtime/try.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/own_config.h"
#include "task/task.h"

#define CONFIG_MAX (1u << 20)

/* A stage's id has no dot, so no stage's task can have this name. */
static char *name_of(const struct stage_job *j)
{
	int len = (int)strnlen(j->row->name, 32);

	/* the name of a task that has tickets may have dots, of which no two come together */
	while (len && j->row->name[len - 1] == '.')
		len--;
	return xasprintf("%.*s.check.%lld", len, j->row->name, (long long)j->at->id);
}

int check_task_clear(const struct stage_job *j, struct err *e)
{
	auto_str name = name_of(j);
	auto_task left = { 0 };
	bool gone;

	if (context_store(j->c, e) < 0)
		return -1;
	if (store_task_by_name(j->c->store, j->row->project_id, name, &left, e) < 0 ||
		task_settle(j->c, &left, &gone, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (!gone)
		runtime_try_drop(j->c, &left, true);
	return 0;
}

int check_task_clear_all(
	struct context *c, struct plan_row *p, const struct stage_row_list *stages, struct err *e)
{
	for (size_t i = 0; i < stages->n; i++)
		if (check_task_clear(&(struct stage_job){ .c = c, .row = p, .at = &stages->v[i] }, e) < 0)
			return -1;
	return 0;
}

void check_task_drop(struct check_task *t)
{
	if (t->task.id)
		runtime_try_drop(t->job->c, &t->task, true);
	task_release(&t->task);
	t->task = (struct task){ 0 };
}

static int make(struct check_task *t, struct err *e)
{
	const struct stage_job *j = t->job;
	auto_str name = name_of(j);
	auto_add_layers layers = { .offline = ticket_task_offline(j) };
	auto_buf config = BUF_INIT(CONFIG_MAX);
	auto_project p = { 0 };
	auto_task parent = { 0 };
	auto_fd dir = -1;
	int rc;
	struct task_spec spec = { .name = name,
		.rev = t->commit,
		.on_dirty = "keep",
		.add_layers = runtime_add_layers,
		.add_layers_arg = &layers };

	if (check_task_clear(j, e) < 0 || context_store(j->c, e) < 0 ||
		store_project_by_id(j->c->store, j->row->project_id, &p, e) < 0)
		return -1;
	spec.dir = p.path;
	rc = ticket_task_spec(j, &parent, &spec, e) < 0 ? -1 : task_create(j->c, &spec, &t->task, e);
	strvec_release(&spec.submodules);
	if (rc < 0)
		return -1;
	fault("plan-check-task");
	stage_config(&j->c->config, j, &config);
	return home_task_dir(&j->c->home, t->task.id, &dir, e) < 0 || ticket_task_layers(j, dir, e) < 0
		       ? -1
		       : own_config_keep_stage(dir, buf_str(&config), config.len, e);
}

/* The end of what a command prints. */
struct kept {
	struct check_output *o;
	struct buf *shown;
};

static bool keep(struct buf *b, const char *data, size_t len)
{
	bool fits = b->len + len <= b->max;

	if (len > b->max) {
		data += len - b->max;
		len = b->max;
	}
	if (b->len + len > b->max) {
		size_t gone = b->len + len - b->max, more = b->max / 2;

		gone = gone < more && more < b->len ? more : gone;
		memmove(b->data, b->data + gone, b->len - gone);
		buf_cut(b, b->len - gone);
	}
	buf_add(b, data, len);
	return fits;
}

static void take(int fd, const char *data, size_t len, void *arg)
{
	struct kept *k = arg;

	if (!keep(fd == 2 ? &k->o->err : &k->o->out, data, len))
		k->o->cut = true;
	keep(k->shown, data, len);
}

/* The command is not told what its result must not depend on: the result may be used for another stage. */
static void set_env(const struct check_task *t, const char *stage, struct strvec *env)
{
	if (stage)
		strvec_pushf(env, "STAGE_ID=%s", stage);
	strvec_pushf(env, "WORKTREE=%s", t->task.workspace);
	strvec_pushf(env, "PROJECT_ROOT=%s", t->task.workspace);
}

static int run(struct check_task *t, const struct check_command *cmd, struct kept *k, struct err *e)
{
	struct context *c = t->job->c;
	auto_strvec env = STRVEC_INIT;
	struct run_opts o = { .env = &env,
		.argv = cmd->argv,
		.quiet = true,
		.timeout = cmd->seconds,
		.walls.no_gateway = true,
		.cwd = cmd->cwd && *cmd->cwd && strcmp(cmd->cwd, ".") ? cmd->cwd : NULL };
	int rc;

	set_env(t, cmd->stage, &env);
	if (runtime_configure(c, &t->task, e) < 0 || ticket_task_network(t->job, &o, e) < 0)
		return -1;
	rc = runtime_wait_output(c, &t->task, &o, cmd->argv, take, k, &k->o->code, e);
	network_release(&o.net);
	return rc;
}

int check_task_run(struct check_task *t, const struct check_command *cmd, struct check_output *ret,
	struct buf *shown, bool *ret_late, struct err *e)
{
	struct kept k = { ret, shown };
	int64_t from;

	*ret_late = false;
	if (!t->task.id && make(t, e) < 0)
		return -1;
	from = clock_ms();
	if (!run(t, cmd, &k, e)) {
		fault("plan-check-ran");
		return 0;
	}
	*ret_late = clock_ms() - from >= (int64_t)cmd->seconds * 1000;
	return *ret_late ? (*e = (struct err)ERR_INIT, 0) : -1;
}
