/* garth plan run, resume: run a plan; with --dry-run, print what would run, wave by wave. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/approve.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "cli/plan_status.h"
#include "cli/plan_view.h"
#include "cli/say.h"
#include "plan/make.h"
#include "plan/replan.h"
#include "plan/rows.h"
#include "plan/run_stages.h"
#include "plan/stage_life.h"
#include "plan/waves.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/here.h"

/* "agent claude", or the script's first line. */
static void print_agent(const struct context *c, const struct plan_stage *s)
{
	const char *agent = s->agent ? s->agent : c->config.default_agent;
	auto_buf clean = BUF_INIT(2u << 20);

	if (s->script)
		printf("    runs   %s\n", say_one_line(&clean, s->script));
	else
		printf("    agent  %s\n", agent ? agent : "the only one that is installed");
}

static void print_commands(const struct plan_check *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_buf clean = BUF_INIT(2u << 20);

		if (v[i].command)
			printf("    %s %s\n", v[i].kind == PLAN_CHECK_BEFORE ? "first " : "then  ",
				say_one_line(&clean, v[i].command));
	}
}

static void print_waves(const struct context *c, const struct plan *p)
{
	size_t *waves = xcalloc(p->nstages, sizeof(*waves)), n = plan_waves(p, waves);

	for (size_t wave = 0; wave < n; wave++) {
		printf("wave %zu\n", wave + 1);
		for (size_t i = 0; i < p->nstages; i++) {
			if (waves[i] != wave)
				continue;
			printf("  %s\n", p->stages[i].id);
			print_agent(c, &p->stages[i]);
			print_commands(p->stages[i].checks, p->stages[i].nchecks);
		}
	}
	if (p->nchecks) {
		puts("on every merged tree");
		print_commands(p->checks, p->nchecks);
	}
	free(waves);
}

static int dry_run(const struct plan_line *l, struct err *e)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_file f = { 0 };

	if (context_open_to_look(&c, e) < 0 || plan_file_load(&c, l->words[0], &f, e) < 0 ||
		plan_file_walls(&f, l->keep_walls, e) < 0)
		return -1;
	plan_file_refusals(&c, &f);
	if (l->json)
		return json_print(plan_json(&f.plan));
	print_waves(&c, &f.plan);
	fflush(stdout);
	plan_file_say(&f);
	return 0;
}

/* Starts a background process, whose messages go to a file in the plan's directory. Returns 1 in the caller. */
static int go_to_background(int dir, struct err *e)
{
	auto_fd log =
		openat(dir, PLAN_LOG_FILE, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid;

	if (log < 0 || null < 0)
		return err_sys(e, "cannot open the plan's log");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return err_sys(e, "cannot start a process");
	if (pid)
		return 1;
	setsid();
	dup2(null, 0);
	dup2(null, 1);
	dup2(log, 2);
	return chdir("/");
}

static const char *target_of(const struct plan_row *row)
{
	return strncmp(row->target, "refs/heads/", 11) ? row->target : row->target + 11;
}

static int tell_done(const struct plan_row *row)
{
	/* with merge: each, a part of the plan may be merged */
	if (*row->note) {
		say_failure("plan '%s' is done, but %s merged: %s", row->name,
			*row->merged ? "not all of it is" : "not", row->note);
		say_hint("garth plan merge %s", row->name);
		return err_exit_code(ERR_CONFLICT);
	}
	if (*row->merged) {
		say_done("plan '%s' is done, and merged into %s (%.12s)", row->name, target_of(row),
			row->merged);
		say_hint("garth undo %s", row->name);
		return 0;
	}
	say_done("plan '%s' is done: its work is on the branch garth/%s", row->name, row->name);
	say_hint("garth diff %s", row->name);
	return 0;
}

/* Whether all that is missing was left out by a person. */
static bool is_left_out(struct context *c, const struct plan_row *row)
{
	auto_stage_row_list l = { 0 };
	struct err ignored = ERR_INIT;

	if (context_store(c, &ignored) < 0 || store_stage_list(c->store, row->id, &l, &ignored) < 0)
		return false;
	for (size_t i = 0; i < l.n; i++)
		if (!stage_is_over(&l.v[i]) || stage_is(&l.v[i], STAGE_FAILED))
			return false;
	return true;
}

static int tell_end(const struct plan_row *row, enum plan_run_end end, bool left_out)
{
	if (end == PLAN_RUN_DONE)
		return tell_done(row);
	if (end == PLAN_RUN_STOPPED) {
		say_state("plan '%s' is no longer run; its running agents go on", row->name);
		say_hint("garth plan resume %s", row->name);
		return 130;
	}
	if (!strcmp(row->state, PLAN_CANCELLED)) {
		say_failure("plan '%s' is cancelled", row->name);
		return 1;
	}
	if (end == PLAN_RUN_WAITS) {
		say_question("plan '%s' waits for you", row->name);
		say_hint("garth plan status %s", row->name);
		return err_exit_code(ERR_BLOCKED);
	}
	say_failure("plan '%s' cannot go on", row->name);
	say_hint("garth plan %s %s", left_out ? "merge" : "status", row->name);
	return 1;
}

/* Runs the plan here or in the background, until nothing goes on. */
static int run_plan(struct context *c, struct plan_row *row, const struct plan_line *l, struct err *e)
{
	__attribute__((cleanup(plan_view_release))) struct plan_view view = { .c = c, .json = l->json };
	struct plan_run_opts o = { .fail_fast = l->fail_fast, .show = plan_view_show, .arg = &view };
	auto_str name = xstrdup(row->name);
	enum plan_run_end end;
	auto_lock lock = -1;
	auto_fd dir = -1;
	int rc, code;

	if (plan_lock(c, row, &dir, &lock, e) < 0)
		return -1;
	context_close_store(c);
	rc = l->detach ? go_to_background(dir, e) : 0;
	if (rc > 0) {
		/* the runner has the lock now */
		close(fd_steal(&lock));
		say_state("plan '%s' runs in the background", name);
		say_hint("garth plan status %s --watch", name);
		return l->json ? plan_status_print(c, name, true, e) : (puts(name), 0);
	}
	if (rc < 0)
		return -1;
	o.dir = dir;
	o.stays = l->detach || (isatty(0) && isatty(2));
	plan_view_begin(&view, &o.tick_ms);
	if (plan_finish_making(c, &(struct plan_make_spec){ .approve = approve_on_terminal }, row, e) < 0 ||
		plan_run(c, row, &o, &end, e) < 0)
		return plan_view_end(&view), -1;
	plan_view_end(&view);
	code = tell_end(row, end, is_left_out(c, row));
	if (l->json && plan_status_print(c, name, true, e) < 0)
		return -1;
	return code;
}

static int run_file(const struct plan_line *l, struct err *e)
{
	auto_str cwd = get_current_dir_name();
	auto_context c = { .home.fd = -1 };
	auto_plan_file f = { 0 };
	auto_plan_row row = { 0 };
	struct plan_make_spec s = { .dir = cwd ? cwd : ".", .plan = &f.plan, .approve = approve_on_terminal };

	if (context_open(&c, e) < 0 || plan_file_load(&c, l->words[0], &f, e) < 0 ||
		plan_file_walls(&f, l->keep_walls, e) < 0)
		return -1;
	plan_file_say(&f);
	if (plan_make(&c, &s, &row, e) < 0)
		return -1;
	return run_plan(&c, &row, l, e);
}

/* Names of plans are looked up in all projects; but a file is for the repository around the current directory. */
static int find_begun(struct context *c, const char *name, struct plan_row *ret, struct err *e)
{
	int64_t here = 0;

	if (here_project(c, ".", &here, e) < 0 || context_store(c, e) < 0)
		return -1;
	if (here > 0)
		return store_plan_by_name(c->store, here, name, ret, e);
	return err_set(e, ERR_NOTFOUND, "there is no plan '%s' in this repository", name);
}

/* Applies the file, and continues. */
static int run_changed(const struct plan_line *l, const char *path, const char *name, struct err *e)
{
	const struct plan_make_spec s = { .approve = approve_on_terminal };
	auto_context c = { .home.fd = -1 };
	auto_plan_file f = { 0 };
	auto_plan_row row = { 0 };
	auto_strvec told = STRVEC_INIT;
	auto_lock lock = -1;
	auto_fd dir = -1;

	if (context_open(&c, e) < 0 || plan_file_load(&c, path, &f, e) < 0 ||
		plan_file_walls(&f, l->keep_walls, e) < 0)
		return -1;
	if (name && strcmp(name, f.plan.task) != 0)
		return err_set(
			e, ERR_REFUSED, "'%s' is the plan '%s' by now, not '%s'", path, f.plan.task, name);
	plan_file_say(&f);
	if (plan_check_agents(&c, &f.plan, e) < 0 || find_begun(&c, f.plan.task, &row, e) < 0 ||
		plan_lock(&c, &row, &dir, &lock, e) < 0 || plan_finish_making(&c, &s, &row, e) < 0 ||
		plan_replan(&c, &row, &f.plan, &told, e) < 0)
		return -1;
	lock_drop(&lock);
	for (size_t i = 0; i < told.n; i++)
		say_state("%s", told.v[i]);
	return run_plan(&c, &row, l, e);
}

int plan_cmd_run(const struct plan_line *l)
{
	struct err e = ERR_INIT;
	int rc = l->dry_run  ? dry_run(l, &e)
		 : l->replan ? run_changed(l, l->words[0], NULL, &e)
			     : run_file(l, &e);

	return rc < 0 ? say_error(&e) : rc;
}

int plan_cmd_resume(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_row row = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (context_open(&c, &e) < 0 || plan_find(&c, l->words[0], &row, &e) < 0)
		return say_error(&e);
	if (l->replan) {
		auto_str file = xstrdup(row.file), name = xstrdup(row.name);

		context_close_store(&c);
		rc = run_changed(l, file, name, &e);
		return rc < 0 ? say_error(&e) : rc;
	}
	if (row.ended && strcmp(row.state, PLAN_DONE) != 0)
		return err_set(&e, ERR_REFUSED, "the plan '%s' is over: it is %s", row.name, row.state),
		       say_error(&e);
	if (row.ended)
		return tell_done(&row);
	rc = run_plan(&c, &row, l, &e);
	return rc < 0 ? say_error(&e) : rc;
}
