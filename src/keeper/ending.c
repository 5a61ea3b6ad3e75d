#include "keeper/ending.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "keeper/state.h"
#include "push/push.h"
#include "sys/fd.h"
#include "task/disk_limit.h"
#include "task/own_config.h"
#include "task/push_owed.h"
#include "task/task_command.h"
#include "task/verdict.h"

#define TRIES_MAX 3

/* Pushes a task that has succeeded, if its task file says so. */
static int push_done(struct context *c, struct task *t, const char *branch, struct err *e)
{
	struct push_spec s = { .branch = branch };
	auto_push_result r = { 0 };
	auto_fd dir = -1;

	/* nothing was changed, so there is nothing to push */
	if (!*t->published || !strcmp(t->published, t->base))
		return 0;
	/* the task file's policy applies to the push */
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 || own_config_apply(&c->config, dir, e) < 0)
		return -1;
	s.retries = (unsigned)c->config.push_retries;
	push_owed_set(dir, true);
	if (push_task(c, t, &s, &r, e) < 0)
		return err_wrap(e, "not pushed");
	push_owed_set(dir, false);
	return 1;
}

/* Why the kernel killed its processes; NULL if it did not. */
static char *explain(const struct keeper *k)
{
	uint64_t kills = cgroup_oom_kills(&k->group);
	char *why = disk_explain(k->exit_code, k->spec.jail->max_file_size, k->spec.task_name);

	if (!why && kills)
		why = xasprintf(
			"the kernel ended %llu of its processes, which needed more than limits.max_memory",
			(unsigned long long)kills);
	return why;
}

static int end_run(const struct keeper *k)
{
	const enum run_end how = k->timed_out ? RUN_TIMED_OUT : k->cancelled ? RUN_CANCELLED : RUN_ENDED;
	struct task_then then = { push_done, NULL };
	struct err ignored = ERR_INIT;
	auto_task_command cmd = { 0 };
	auto_str why = explain(k);

	if (!task_command_load(k->spec.task_dir, &cmd, &ignored))
		then.arg = cmd.push;
	return task_end(k->spec.run, k->exit_code, how, why ? why : "", then.arg ? &then : NULL, &ignored);
}

static void be_ending(const struct keeper *k, int answer)
{
	int keep[] = { k->spec.task_dir, k->spec.lock_fd, answer }, code;

	keeper_become("garth-ending", keep, ARRAY_SIZE(keep));
	/* as in the keeper: a write that fails says so, and the store is still told of the run */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* its own process group, so that ending_cancel can kill it with its children */
	setpgid(0, 0);
	code = end_run(k);
	write_full(answer, &code, sizeof(code));
	_exit(0);
}

bool ending_start(struct keeper *k)
{
	int ends[2] = { -1, -1 };
	pid_t pid;

	if (k->ending.tries++ == TRIES_MAX)
		return false;
	pid = pipe2(ends, O_CLOEXEC) < 0 ? -1 : fork();
	if (!pid)
		be_ending(k, ends[1]);
	fd_closep(&ends[1]);
	if (pid < 0) {
		fd_closep(&ends[0]);
		k->exit_code = end_run(k);
		return false;
	}
	setpgid(pid, pid);
	k->ending.pid = pid;
	k->ending.fd = ends[0];
	return true;
}

void ending_cancel(struct keeper *k)
{
	if (k->cancelled || k->ending.pid <= 0)
		return;
	k->cancelled = true;
	kill(-k->ending.pid, SIGKILL);
}

bool ending_done(struct keeper *k)
{
	int code;
	bool done = read_full(k->ending.fd, &code, sizeof(code)) == (ssize_t)sizeof(code);

	fd_closep(&k->ending.fd);
	k->ending.fd = -1;
	k->ending.pid = 0;
	if (done)
		k->exit_code = code;
	return done;
}
