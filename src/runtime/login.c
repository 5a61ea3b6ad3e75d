#include "runtime/login.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/clean.h"
#include "sys/fd.h"

/* Warn about a log-in that expires within so many seconds. */
#define SOON 600

static void tell_end(const struct run_opts *o, const struct login_end *end)
{
	const struct config_agent *a = o->agent;
	const char *program = a->programs.n ? a->programs.v[0] : a->name;
	long long left = (long long)end->at - (long long)time(NULL);
	auto_buf which = BUF_SMALL, clean = BUF_SMALL;

	if (left > SOON)
		return;
	if (*end->name) {
		clean_text(&clean, end->name, strlen(end->name), false);
		buf_printf(&which, " (%s)", buf_str(&clean));
	}
	if (left <= 0)
		runtime_warn(o,
			"the log-in of %s%s has ended, and a task cannot renew it: run %s once outside, then this again",
			a->name, buf_str(&which), program);
	else
		runtime_warn(o,
			"the log-in of %s%s ends in %lld minutes, and a task cannot renew it: run %s once outside, then this again",
			a->name, buf_str(&which), (left + 59) / 60, program);
}

int login_copy(struct context *c, struct task_at *at, const struct run_opts *o, struct err *e)
{
	auto_fd user_home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd task_home = open_beneath(at->ws.dir, "home", O_RDONLY | O_DIRECTORY, 0);
	const struct agent_place place = { at->repo.top ? at->repo.top : "", at->task->workspace };
	auto_login_report r = { 0 };

	if (!o->agent)
		return 0;
	if (user_home < 0 || task_home < 0)
		return err_sys(e, "cannot open the home directories");
	if (agent_copy_login(o->agent, &place, user_home, task_home, &r, e) < 0)
		return -1;
	for (size_t i = 0; !o->quiet && i < r.left_out.n; i++)
		runtime_warn(o,
			"~/%s is not copied into the task: it cannot be read, and may hold a refresh token",
			r.left_out.v[i]);
	for (size_t i = 0; !o->quiet && i < r.nends; i++)
		tell_end(o, &r.ends[i]);
	return 0;
}
