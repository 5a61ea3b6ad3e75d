#include "plan/make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/shell_word.h"
#include "git/entry.h"
#include "plan/stage_life.h"
#include "plan/start.h"
#include "plan/stage_words.h"
#include "plan/tickets.h"
#include "runtime/add_layers.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/here.h"
#include "task/stage_ask.h"
#include "task/stage_files.h"
#include "task/task.h"

/* How long the start of an agent may take, without the set-up. */
#define START_MS 60000

static int refuse_taken(struct context *c, int64_t project, const char *name, struct err *e)
{
	auto_task t = { 0 };

	if (!store_task_by_name(c->store, project, name, &t, e)) {
		err_set(e, ERR_EXISTS, "there is a task '%s' already, and the plan needs the name", name);
		return err_hint(e, "garth show %s", name);
	}
	return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
}

static int check_names(struct context *c, int64_t project, const struct plan *p, struct err *e)
{
	auto_plan_row there = { 0 };

	if (!store_plan_by_name(c->store, project, p->task, &there, e) && !there.ended) {
		auto_str file = shell_word(p->file);

		if (strcmp(there.digest, p->digest) != 0) {
			err_set(e, ERR_EXISTS, "the plan '%s' has already begun, and '%s' has changed since",
				there.name, p->file);
			return err_hint(e, "garth plan run --replan %s", file);
		}
		err_set(e, ERR_EXISTS, "the plan '%s' has already begun, and is %s", there.name, there.state);
		return err_hint(e, "garth plan resume %s", there.name);
	}
	*e = (struct err)ERR_INIT;
	if (refuse_taken(c, project, p->task, e) < 0)
		return -1;
	for (size_t i = 0; i < p->nstages; i++)
		if (refuse_taken(c, project, p->stages[i].task, e) < 0)
			return -1;
	return 0;
}

int plan_check_agents(struct context *c, const struct plan *p, struct err *e)
{
	stage_agent_default(c);
	for (size_t i = 0; i < p->nstages; i++) {
		const struct config_agent *a;
		const struct strvec *words;
		const char *name;

		if (stage_agent(&c->config, p, &p->stages[i], &name, e) < 0)
			return -1;
		if (strcmp(name, STAGE_AGENT_SCRIPT) != 0 &&
			(config_agent_find(&c->config, name, &a, e) < 0 ||
				stage_words_template(a, &words, e) < 0))
			return plan_error(p, p->stages[i].at, e, "%s", e->msg);
	}
	return 0;
}

int plan_check_commit(const struct repo *r, const char *commit, struct err *e)
{
	auto_strvec path = STRVEC_INIT;
	bool there = false;

	strvec_push(&path, STAGE_FILES_NAME);
	if (entry_are_there(r, commit, &path, &there, e) < 0)
		return -1;
	return there ? err_set(e, ERR_REFUSED,
			       "commit %.12s tracks '" STAGE_FILES_NAME
			       "', where stages of a plan have their own files: it has to be renamed first",
			       commit)
		     : 0;
}

static int add_rows(struct context *c, const struct plan *p, struct plan_row *row, struct err *e)
{
	struct stage_row *stages = xcalloc(p->nstages + 1, sizeof(*stages));
	auto_buf frozen = BUF_INIT(PLAN_FROZEN_MAX);
	int rc;

	plan_freeze(p, &frozen);
	for (size_t i = 0; i < p->nstages; i++)
		stages[i] = (struct stage_row){ .number = (int64_t)i,
			.name = p->stages[i].id,
			.task = p->stages[i].task,
			.state = STAGE_WAITING };
	rc = frozen.overflow ? err_set(e, ERR_CONFIG, "%s: the plan is too long", p->file)
			     : store_plan_add(c->store, row, buf_str(&frozen), stages, p->nstages, e);
	free(stages);
	return rc;
}

static int find_own_task(struct context *c, const struct plan_row *row, struct task *ret, struct err *e)
{
	auto_task t = { 0 };

	return store_task_by_name(c->store, row->project_id, row->name, &t, e) < 0
		       ? -1
		       : task_find_id(c, t.id, ret, e);
}

static int make_task(struct context *c, const struct plan_make_spec *s, const struct plan_row *row,
	struct task *ret, struct err *e)
{
	auto_add_layers layers = { .no_setup = true };
	auto_project p = { 0 };
	auto_plan plan = { 0 };
	struct task_spec spec = { .dir = s->dir,
		.name = row->name,
		.approve = s->approve,
		.add_layers = runtime_add_layers,
		.add_layers_arg = &layers };

	if (store_project_by_id(c->store, row->project_id, &p, e) < 0 || plan_open(c, row, &plan, e) < 0)
		return -1;
	if (!spec.dir)
		spec.dir = p.path;
	spec.rev = plan.target;
	return task_create(c, &spec, ret, e);
}

int plan_finish_making(struct context *c, const struct plan_make_spec *s, struct plan_row *row, struct err *e)
{
	auto_task t = { 0 };

	if (strcmp(row->state, PLAN_MAKING) != 0)
		return 0;
	if (context_store(c, e) < 0)
		return -1;
	if (find_own_task(c, row, &t, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
		*e = (struct err)ERR_INIT;
		if (make_task(c, s, row, &t, e) < 0)
			return -1;
	}
	fault("plan-made-task");
	row->task_id = t.id;
	stage_set(&row->target, t.target);
	stage_set(&row->state, PLAN_RUNNING);
	return context_store(c, e) < 0 ? -1 : store_plan_write(c->store, row, PLAN_MAKING, e);
}

/* Nothing of it was made: its name is free again. */
static void give_up(struct context *c, struct plan_row *row, const struct err *why)
{
	struct err ignored = ERR_INIT;

	stage_set(&row->state, PLAN_CANCELLED);
	stage_set(&row->note, why->msg);
	row->ended = time(NULL);
	if (!context_store(c, &ignored))
		store_plan_write(c->store, row, PLAN_MAKING, &ignored);
}

char *plan_file_path(const struct plan *p)
{
	char *path = strcmp(p->file, "-") ? realpath(p->file, NULL) : NULL;

	return path ? path : xstrdup(p->file);
}

int plan_make(struct context *c, const struct plan_make_spec *s, struct plan_row *ret, struct err *e)
{
	const struct plan *p = s->plan;
	auto_repo r = { 0 };
	auto_project project = { 0 };
	auto_plan_row row = { 0 };

	if (plan_check_agents(c, p, e) < 0 ||
		here_open(c, s->dir, p->target ? p->target : "HEAD", &r, e) < 0 ||
		plan_check_commit(&r, r.commit, e) < 0 || context_store(c, e) < 0 ||
		store_project(c->store, r.main_top, r.git_dir, &project, e) < 0 ||
		check_names(c, project.id, p, e) < 0)
		return -1;
	row = (struct plan_row){ .project_id = project.id,
		.project = xstrdup(project.name),
		.name = xstrdup(p->task),
		.file = plan_file_path(p),
		.digest = xstrdup(p->digest),
		.target = xstrdup(""),
		.state = xstrdup(PLAN_MAKING),
		.note = xstrdup(""),
		.merged = xstrdup("") };
	if (add_rows(c, p, &row, e) < 0)
		return -1;
	fault("plan-made-rows");
	if (plan_finish_making(c, s, &row, e) < 0)
		return give_up(c, &row, e), -1;
	*ret = row;
	row = (struct plan_row){ 0 };
	return 0;
}

int plan_open(struct context *c, const struct plan_row *row, struct plan *ret, struct err *e)
{
	auto_str text = NULL;

	if (row->tickets)
		return tickets_plan(c, row, NULL, ret, e);
	if (context_store(c, e) < 0 || store_plan_frozen(c->store, row->id, &text, e) < 0)
		return -1;
	return plan_thaw(text, strlen(text), ret, e);
}

static int none_here(struct err *e)
{
	err_set(e, ERR_NOTFOUND, "no plan was run in the repository of this directory");
	return err_hint(e, "garth plan ls --all");
}

/* The plan if none is named. */
static int find_only(struct context *c, int64_t project, struct plan_row *ret, struct err *e)
{
	auto_plan_row_list open = { 0 }, all = { 0 };
	struct plan_row_list *l = &open;

	if (store_plan_list(c->store, project, false, &open, e) < 0)
		return -1;
	if (open.n > 1) {
		err_set(e, ERR_USAGE, "which plan? %zu are not over, among them '%s' and '%s'", open.n,
			open.v[0].name, open.v[1].name);
		return err_hint(e, "garth plan ls");
	}
	if (!open.n) {
		if (store_plan_list(c->store, project, true, &all, e) < 0)
			return -1;
		l = &all;
	}
	if (!l->n)
		return none_here(e);
	*ret = l->v[l->n - 1];
	l->v[l->n - 1] = (struct plan_row){ 0 };
	return 0;
}

int plan_find(struct context *c, const char *word, struct plan_row *ret, struct err *e)
{
	int64_t here = 0;

	if (context_store(c, e) < 0 || here_project(c, ".", &here, e) < 0)
		return -1;
	if (!word)
		return here > 0 ? find_only(c, here, ret, e) : none_here(e);
	if (here > 0 && !store_plan_by_name(c->store, here, word, ret, e))
		return 0;
	*e = (struct err)ERR_INIT;
	if (!store_plan_by_name(c->store, 0, word, ret, e))
		return 0;
	return e->kind == ERR_NOTFOUND ? err_hint(e, "garth plan ls --all") : -1;
}

static int open_dir(const struct context *c, int64_t plan, bool make, int *ret, struct err *e)
{
	auto_str path = xasprintf(PLAN_DIR, (long long)plan);

	if (make && ((mkdirat(c->home.fd, "plans", 0700) < 0 && errno != EEXIST) ||
			    (mkdirat(c->home.fd, path, 0700) < 0 && errno != EEXIST)))
		return err_sys(e, "cannot make the plan's directory");
	*ret = openat(c->home.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *ret < 0 ? err_sys(e, "cannot open the plan's directory") : 0;
}

int plan_lock(struct context *c, const struct plan_row *row, int *ret_dir, int *ret_lock, struct err *e)
{
	auto_fd dir = -1;

	if (open_dir(c, row->id, true, &dir, e) < 0)
		return -1;
	if (lock_take(dir, PLAN_LOCK_FILE, false, ret_lock, e) < 0) {
		if (e->kind != ERR_BUSY)
			return -1;
		err_set(e, ERR_BUSY, "another command runs the plan '%s' already", row->name);
		return err_hint(e, "garth plan status %s --watch", row->name);
	}
	*ret_dir = fd_steal(&dir);
	return 0;
}

bool plan_has_runner(const struct context *c, const struct plan_row *row)
{
	auto_str path = xasprintf(PLAN_DIR "/" PLAN_LOCK_FILE, (long long)row->id);

	return lock_is_held(c->home.fd, path);
}

static char *start_lock(const struct stage_row *s)
{
	return xasprintf("start-%lld", (long long)s->number);
}

int plan_lock_start(const struct context *c, const struct stage_row *s, int *ret_lock, struct err *e)
{
	auto_str name = start_lock(s);
	auto_fd dir = -1;

	return open_dir(c, s->plan_id, false, &dir, e) < 0 ? -1 : lock_take(dir, name, false, ret_lock, e);
}

int plan_wait_start(const struct context *c, const struct stage_row *s, struct err *e)
{
	auto_str name = start_lock(s), path = xasprintf(PLAN_DIR "/%s", (long long)s->plan_id, name);
	struct deadline d = deadline_in(START_MS);

	while (lock_is_held(c->home.fd, path))
		if (!deadline_sleep(&d, 10))
			return err_set(
				e, ERR_FAILED, "the agent of stage '%s' is still being started", s->name);
	return 0;
}

void plan_wake(const struct context *c, int64_t plan)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1, file = -1;

	if (open_dir(c, plan, false, &dir, &ignored) < 0)
		return;
	/* the runner watches for a file that was open for writing */
	file = openat(dir, PLAN_WAKE_FILE, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}
