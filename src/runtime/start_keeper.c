#include "runtime/start_keeper.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "runtime/authority.h"
#include "runtime/login.h"
#include "agent/agent.h"
#include "git/private.h"
#include "keeper/keeper.h"
#include "push/fetch.h"
#include "sys/cgroup.h"
#include "sys/fd.h"
#include "task/also.h"
#include "task/layers.h"
#include "task/project_cache.h"
#include "task/set_aside.h"
#include "task/shown.h"
#include "workspace/aside.h"

/* Overlays are mounted without syncing, so after a crash of the machine files that were written shortly
 * before may be incomplete. The file `boot` has the id of the boot in which the workspace was last
 * mounted. */
static void look_at_boot(struct task_at *at, const struct run_opts *o)
{
	auto_buf last = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char now[64];

	home_boot_id(now);
	if (!read_file(at->ws.dir, "boot", &last, &ignored) && !strcmp(buf_str(&last), now))
		return;
	/* said once: not to a caller that shows no warnings */
	if (last.len && !o->warnings)
		return;
	if (last.len)
		runtime_warn(o,
			"the machine was restarted since task '%s' last ran: look at its newest files",
			at->task->name);
	write_file(at->ws.dir, "boot", now, strlen(now), 0600, &ignored);
}

/* The directories in which git stores the refs that the task is shown. */
static void watched(const struct repo *r, const struct task *t, struct strvec *ret)
{
	strvec_push(ret, r->git_dir);
	strvec_pushf(ret, "%s/refs/tags/", r->git_dir);
	if (repo_has_reftable(r))
		strvec_pushf(ret, "%s/reftable", r->git_dir);
	/* "refs/heads" and down to the target's directory, but not recursively: every task's branch is
	 * there */
	for (const char *s = t->target; (s = strchr(s, '/')); s++)
		strvec_pushf(ret, "%s/%.*s", r->git_dir, (int)(s - t->target), t->target);
}

/* If the disk is full, a command in a stopped task still runs. */
static int keep_network(struct task_at *at, const struct run_opts *o, bool own, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (own)
		return network_save(at->ws.dir, true, &o->net, e);
	network_save(at->ws.dir, false, &o->net, &ignored);
	return 0;
}

/* Limits that a control group holds for all processes of the task need not be held for each one. */
static void limit(
	struct context *c, const struct task *t, const struct run_opts *o, struct jail *j, struct cgroup *ret)
{
	const struct cgroup_limits l = { c->config.max_memory, c->config.max_processes, c->config.max_cpu };
	auto_str name = NULL;
	unsigned held;

	/* the jail limits the number of processes itself; that alone does not need a group */
	if (!l.memory && !l.cpu)
		return;
	name = cgroup_name(c->home.fd, t->id);
	held = cgroup_make(&cgroup_kernel, name, &l, ret);
	if (held & CGROUP_MEMORY)
		j->max_memory = 0;
	if (l.memory && !(held & CGROUP_MEMORY))
		runtime_warn(o,
			"there is no control group for this user: limits.max_memory holds for each process by itself");
	if (l.cpu && !(held & CGROUP_CPU))
		runtime_warn(o, "there is no control group for this user: limits.max_cpu is not held");
}

/* The task's lock is held, so nobody works inside: git's lock files are left by processes that were
 * killed. */
static void clear_locks(const struct task_at *at)
{
	auto_fd git = open_beneath(at->ws.dir, "git", O_PATH | O_DIRECTORY, 0);

	if (git >= 0)
		private_unlock(git, at->task->branch, *at->task->target ? at->task->target : NULL);
}

/* Moves back what a rollback set aside and a crash left there. Problems are only warnings. */
static void settle_aside(struct context *c, struct task_at *at, const struct run_opts *o)
{
	auto_strvec stuck = STRVEC_INIT;
	struct err failed = ERR_INIT;

	if (set_aside_settle(c, at, &stuck, &failed) < 0)
		runtime_warn(o, "%s", failed.msg);
	for (size_t i = 0; i < stuck.n; i++)
		runtime_warn(o, "%s", stuck.v[i]);
}

static int set_aside(struct task_at *at, const struct run_opts *o, struct err *e)
{
	const struct task *t = at->task;

	if (!o->set_aside || aside_is_pending(at->ws.dir))
		return 0;
	return aside_take(&at->ws, *t->published ? t->published : t->base, e);
}

/* Whether shown refs moved while the task was stopped. */
static bool refs_moved(struct context *c, const struct task_at *at)
{
	auto_str fetched = fetch_shown(c, at->ws.dir);

	return shown_has_changed(c, &at->repo, at->task, fetched);
}

/* Says how to notify the user of what happens to the run. NULL: not at all. */
static const struct notify_job *notify_of(struct context *c, const struct task_at *at,
	const struct run_opts *o, const struct task_run *run, char **program, struct notify_job *j)
{
	const char *missing;

	if (!run || !c->config.notify.command.n)
		return NULL;
	*program = notify_program(&c->config, &missing);
	if (missing)
		runtime_warn(o, "notify.command: there is no program '%s'; nobody is notified", missing);
	*j = (struct notify_job){ .program = *program,
		.notify = &c->config.notify,
		.home = run->home,
		.task = run->task,
		.run = run->run,
		.task_dir = at->ws.dir };
	return *program ? j : NULL;
}

/* The agent's own program, if the command's is another one, which may start it: a script, or a shell. */
static void find_program(const struct context *c, const struct task_at *at, const struct config_agent *a,
	const char *first, struct also *ret)
{
	struct err ignored = ERR_INIT;

	also_program(c, &at->repo, first, ret, &ignored);
	if (a->programs.n && !strvec_has(&a->programs, path_base(first)))
		also_program(c, &at->repo, a->programs.v[0], ret, &ignored);
}

/* What the agent needs of the host beside what every task is shown. Nothing of it is worth failing. */
static void find_also(const struct context *c, const struct task_at *at, const struct run_opts *o,
	char *const *argv, struct also *ret)
{
	const struct agent_env env = { environ, o->env };
	auto_str cwd = getcwd(NULL, 0);

	if (!o->agent || !argv || !argv[0])
		return;
	find_program(c, at, o->agent, argv[0], ret);
	also_settings(c, &at->repo, o->agent, &env, ret);
	also_arguments(c, &at->repo, cwd ? cwd : "/", argv, ret);
	for (size_t i = 0; i < ret->notes.n; i++)
		runtime_warn(o, "%s", ret->notes.v[i]);
}

/* Describes the jail, and tells what of the user's wishes cannot be had. */
static int describe(struct context *c, struct task_at *at, const struct run_opts *o, char *const *argv,
	const struct outside *out, const char *authority, struct jail *ret, struct err *e)
{
	auto_strvec not_shown = STRVEC_INIT;
	auto_also also = { 0 };
	struct walls_opts walls = o->walls;

	layers_missing(c, at->task, at->ws.dir, &not_shown);
	find_also(c, at, o, argv, &also);
	walls.net = &o->net;
	walls.told = &out->told;
	walls.authority = authority;
	walls.certificates = AUTHORITY_CERTIFICATES;
	walls.not_shown = &not_shown;
	walls.also = &also;
	walls.agent = o->agent;
	if (walls_describe(c, at, &walls, ret, e) < 0 || jail_check(ret, e) < 0)
		return -1;
	walls_make_files(ret, at->ws.dir);
	for (size_t i = 0; i < not_shown.n; i++)
		runtime_warn(o, "%s", not_shown.v[i]);
	return 0;
}

int start_keeper(struct context *c, struct task *t, const struct run_opts *o,
	const struct order_cmd *main_cmd, struct task_run *run, int lock, int *ret_conn, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_jail jail = { 0 };
	auto_outside out = { 0 };
	auto_fd table = -1;
	auto_strvec watch = STRVEC_INIT;
	struct keeper_spec spec = { .task = t->id,
		.task_name = t->name,
		.jail = &jail,
		.main_cmd = main_cmd,
		.log_max = c->config.log_size,
		.run = run,
		.ports = o->ports };
	auto_str group_name = cgroup_name(c->home.fd, t->id);
	struct cgroup group = { .n = 0 };
	uint16_t forwards[NETWORK_FORWARDS_MAX + 1];
	struct notify_job notify;
	auto_str notify_path = NULL, authority = NULL;
	bool renew;
	int rc;

	if (task_open(c, t, &at, e) < 0 || login_open(c, t, o, false, &out, e) < 0 ||
		authority_give(&at, &out, &authority, e) < 0 || login_copy(c, &at, o, &out, e) < 0)
		return -1;
	login_note(at.ws.dir, o, &out);
	look_at_boot(&at, o);
	clear_locks(&at);
	settle_aside(c, &at, o);
	project_cache_note(c, t, at.ws.dir);
	if (keep_network(&at, o, run != NULL, e) < 0 ||
		describe(c, &at, o, main_cmd ? main_cmd->argv.v : o->argv, &out, authority, &jail, e) < 0)
		return -1;
	renew = refs_moved(c, &at);
	if (set_aside(&at, o, e) < 0)
		return -1;
	context_close_store(c);
	limit(c, t, o, &jail, &group);
	spec.group = &group;
	spec.group_name = group_name;
	network_forwards(&o->net, forwards);
	spec.forwards = jail.listens ? forwards : NULL;
	spec.credentials = table = login_table(&out);
	spec.handed_over = &out.hosts;
	spec.task_dir = at.ws.dir;
	spec.lock_fd = lock;
	spec.timeout = o->timeout;
	spec.tied = o->tied;
	spec.measure_seconds = (unsigned)c->config.check_every;
	spec.sync_seconds = c->config.auto_rebase ? (unsigned)c->config.rebase_frequency : 0;
	watched(&at.repo, t, &watch);
	spec.watch = (const char *const *)watch.v;
	spec.renew = renew;
	spec.notify = notify_of(c, &at, o, run, &notify_path, &notify);
	rc = keeper_start(&spec, ret_conn, e);
	if (rc < 0) {
		cgroup_remove(&group);
		settle_aside(c, &at, o);
	}
	for (size_t i = 0; i < group.n; i++)
		free(group.dirs[i]);
	return rc;
}
