#include "cli/keeping.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/login.h"
#include "cli/say.h"
#include "egress/proxy.h"
#include "egress/relay.h"
#include "gateway/end.h"
#include "gateway/gate.h"
#include "gateway/renew.h"
#include "gateway/serve.h"
#include "gateway/sync.h"
#include "git/private.h"
#include "keeper/keeper.h"
#include "push/fetch.h"
#include "push/push.h"
#include "sys/cgroup.h"
#include "sys/fd.h"
#include "sys/sync.h"
#include "task/again.h"
#include "task/disk.h"
#include "task/end.h"
#include "task/set_aside.h"
#include "task/shown.h"
#include "workspace/aside.h"

#define PROXY_LINGER 30

/* After a crash of the machine, files written shortly before may be incomplete: overlays are mounted without
 * syncing. `boot` tells during which boot the workspace was last mounted. */
static void look_at_boot(struct task_at *at)
{
	auto_buf last = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char now[64];

	home_boot_id(now);
	if (!read_file(at->ws.dir, "boot", &last, &ignored) && !strcmp(buf_str(&last), now))
		return;
	if (last.len)
		say_warning("the machine was restarted since task '%s' last ran: look at its newest files",
			at->task->name);
	write_file(at->ws.dir, "boot", now, strlen(now), 0600, &ignored);
}

/* What a keeper needs of its task, for as long as it lives. */
struct kept {
	char *task;           /* its name */
	struct task_run *run; /* NULL where there is no main command */
	uint64_t max_file;    /* bytes that a file inside may have */
	struct strvec watch;
};

/* In the proxy's process. */
static void proxy(void *arg, const struct keeper_proxy *io)
{
	const struct kept *k = arg;
	const struct proxy p = { { io->listen[0], io->listen[1] }, io->forward, k->task, io->notes,
		PROXY_LINGER };

	proxy_serve(&p);
}

/* In the gateway's process. */
static void gateway(void *arg, const struct keeper_gate *io)
{
	const struct kept *k = arg;
	struct err e = ERR_INIT;
	struct gate g = { 0 };

	if (io->job == GATE_CLOSE)
		task_end_begin(k->run);
	if (gate_open(&g, k->task, io->orders, &e) < 0)
		return;
	switch (io->job) {
	case GATE_SERVE:
		serve(&g, io->agent, io->user, io->linger, &e);
		break;
	case GATE_CLOSE:
		gate_end(&g, &e);
		break;
	case GATE_RENEW:
		gate_renew(&g, &e);
		break;
	case GATE_SYNC:
		sync_quiet(&g, &e);
		break;
	}
	gate_close(&g);
}

/* In the keeper: a task that has succeeded is pushed where its file says. */
static int push_done(struct context *c, struct task *t, const char *branch, struct err *e)
{
	struct push_spec s = { .branch = branch };
	auto_push_result r = { 0 };
	auto_fd dir = -1;

	/* one that changed nothing has nothing to bring */
	if (!*t->published || !strcmp(t->published, t->base))
		return 0;
	/* what its file says of policy counts here too */
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 || again_configure(&c->config, dir, e) < 0)
		return -1;
	s.retries = (unsigned)c->config.push_retries;
	again_owe_push(dir, true);
	if (push_task(c, t, &s, &r, e) < 0)
		return err_wrap(e, "not pushed");
	again_owe_push(dir, false);
	return 1;
}

/* In the keeper. A run that ended has its files written out; a mere exec leaves that to the kernel. */
static int on_ended(void *arg, const struct keeper_report *r)
{
	static const enum run_end ends[] = { [KEEPER_ENDED] = RUN_ENDED,
		[KEEPER_CANCELLED] = RUN_CANCELLED,
		[KEEPER_TIMED_OUT] = RUN_TIMED_OUT };
	const struct kept *k = arg;
	const struct task_run *run = k->run;
	auto_str path = xasprintf("%s/tasks/%lld", run->home, (long long)run->task);
	auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;
	struct task_then then = { push_done, NULL };
	auto_again again = { 0 };
	auto_str note = disk_explain(r->exit_code, k->max_file, k->task);
	int exit_code;

	if (!note && r->oom_kills)
		note = xasprintf(
			"the kernel ended %llu of its processes, which needed more than limits.max_memory",
			(unsigned long long)r->oom_kills);
	if (dir >= 0 && !again_load(dir, &again, &ignored))
		then.arg = again.push;
	exit_code = task_end(
		run, r->exit_code, ends[r->how], note ? note : "", then.arg ? &then : NULL, &ignored);
	if (dir >= 0)
		sync_later(dir, "boot", "lock");
	return exit_code;
}

/* Where git puts the refs that the task is shown. */
static void watched(const struct repo *r, const struct task *t, struct strvec *ret)
{
	strvec_push(ret, r->git_dir);
	strvec_pushf(ret, "%s/refs/tags/", r->git_dir);
	/* "refs/heads" and on, down to where the target is; never all of it, where every task's branch is */
	for (const char *s = t->target; (s = strchr(s, '/')); s++)
		strvec_pushf(ret, "%s/%.*s", r->git_dir, (int)(s - t->target), t->target);
}

/* Where a full disk has no room for it, a command in a stopped task runs all the same. */
static int keep_network(struct task_at *at, const struct session_opts *o, bool own, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (own)
		return network_save(at->ws.dir, true, &o->net, e);
	network_save(at->ws.dir, false, &o->net, &ignored);
	return 0;
}

/* What a control group holds for all of the task's processes together need not be held for each. */
static void limit(struct context *c, const struct task *t, struct jail *j, struct cgroup *ret)
{
	const struct cgroup_limits l = { c->config.max_memory, c->config.max_processes, c->config.max_cpu };
	auto_str name = NULL;
	unsigned held;

	/* a limit that the jail holds as well is not worth a group of its own */
	if (!l.memory && !l.cpu)
		return;
	name = cgroup_name(c->home.fd, t->id);
	held = cgroup_make(&cgroup_kernel, name, &l, ret);
	if (held & CGROUP_MEMORY)
		j->max_memory = 0;
	if (l.memory && !(held & CGROUP_MEMORY))
		say_warning(
			"there is no control group for this user: limits.max_memory holds for each process by itself");
	if (l.cpu && !(held & CGROUP_CPU))
		say_warning("there is no control group for this user: limits.max_cpu is not held");
}

/* The task's lock is ours, so that nobody is in there: what holds a lock of git's was killed. */
static void clear_locks(const struct task_at *at)
{
	auto_fd git = open_beneath(at->ws.dir, "git", O_PATH | O_DIRECTORY, 0);

	if (git >= 0)
		private_unlock(git, at->task->branch, *at->task->target ? at->task->target : NULL);
}

/* What a rollback has set aside and a crash kept from coming back. Whatever cannot come back is no reason not
 * to work on the rest. */
static void settle_aside(struct context *c, struct task_at *at)
{
	auto_strvec stuck = STRVEC_INIT;
	struct err failed = ERR_INIT;

	if (set_aside_settle(c, at, &stuck, &failed) < 0)
		say_warning("%s", failed.msg);
	for (size_t i = 0; i < stuck.n; i++) {
		auto_buf line = BUF_SMALL;

		say_warning("%s", say_one_line(&line, stuck.v[i]));
	}
}

static int set_aside(struct task_at *at, const struct session_opts *o, struct err *e)
{
	const struct task *t = at->task;

	if (!o->set_aside || aside_is_pending(at->ws.dir))
		return 0;
	return aside_take(&at->ws, *t->published ? t->published : t->base, e);
}

/* While it was at rest. */
static bool refs_moved(struct context *c, const struct task_at *at)
{
	auto_str fetched = fetch_shown(c, at->ws.dir);

	return shown_has_changed(c, &at->repo, at->task, fetched);
}

int keeping_start(struct context *c, struct task *t, const struct session_opts *o,
	const struct order_cmd *main_cmd, struct task_run *run, int *lock, int *ret_conn, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_jail jail = { 0 };
	auto_strvec not_shown = STRVEC_INIT;
	struct walls_opts walls = o->walls;
	struct kept kept = { .task = t->name, .run = run };
	struct keeper_spec spec = { .task = t->name,
		.jail = &jail,
		.main_cmd = main_cmd,
		.log_max = c->config.log_size,
		.gateway = gateway,
		.proxy = proxy,
		.relay = relay,
		.ports = o->ports,
		.arg = &kept,
		.on_ended = run ? on_ended : NULL };
	auto_str group_name = cgroup_name(c->home.fd, t->id);
	struct cgroup group = { .n = 0 };
	uint16_t forwards[NETWORK_FORWARDS_MAX + 1];
	bool renew;
	int rc;

	if (task_open(c, t, &at, e) < 0 || login_bring(c, &at, o, e) < 0)
		return -1;
	look_at_boot(&at);
	clear_locks(&at);
	settle_aside(c, &at);
	walls.net = &o->net;
	walls.not_shown = &not_shown;
	if (keep_network(&at, o, run != NULL, e) < 0 || walls_describe(c, &at, &walls, &jail, e) < 0 ||
		jail_check(&jail, e) < 0)
		return -1;
	kept.max_file = jail.max_file_size;
	for (size_t i = 0; i < not_shown.n; i++)
		say_warning("%s", not_shown.v[i]);
	renew = refs_moved(c, &at);
	if (set_aside(&at, o, e) < 0)
		return -1;
	context_close_store(c);
	limit(c, t, &jail, &group);
	spec.group = &group;
	spec.group_name = group_name;
	network_forwards(&o->net, forwards);
	spec.forwards = jail.listens ? forwards : NULL;
	spec.task_dir = at.ws.dir;
	spec.lock_fd = *lock;
	spec.timeout = o->timeout;
	spec.measure_seconds = (unsigned)c->config.check_every;
	spec.sync_seconds = c->config.auto_rebase ? (unsigned)c->config.rebase_frequency : 0;
	watched(&at.repo, t, &kept.watch);
	spec.watch = (const char *const *)kept.watch.v;
	spec.renew = renew;
	rc = keeper_start(&spec, ret_conn, e);
	if (rc < 0) {
		cgroup_remove(&group);
		settle_aside(c, &at);
	}
	for (size_t i = 0; i < group.n; i++)
		free(group.dirs[i]);
	strvec_release(&kept.watch);
	return rc;
}
