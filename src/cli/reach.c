#include "cli/reach.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/agent.h"
#include "cli/login.h"
#include "sys/fd.h"
#include "task/network.h"

extern char **environ;

int reach_forward(struct context *c, struct task *t, int dir, const char *host, struct err *e)
{
	uint16_t ports[NETWORK_FORWARDS_MAX + 1];
	struct err why = ERR_INIT;
	auto_network n = { 0 };

	if (network_with(dir, task_is_busy(c, t), &c->config, host, &n, e) < 0)
		return -1;
	network_forwards(&n, ports);
	for (size_t i = 0; ports[i]; i++)
		if (session_forward(c, t, ports[i], &why) < 0 && why.kind != ERR_NOTFOUND) {
			*e = why;
			return -1;
		}
	return 0;
}

static int bring_hosts(struct context *c, struct task *t, const struct session_opts *o,
	const struct strvec *hosts, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	for (size_t i = 0; i < hosts->n; i++)
		if (!strvec_has(&o->net.allow, hosts->v[i]) &&
			(reach_forward(c, t, dir, hosts->v[i], e) < 0 ||
				network_add(dir, false, &c->config, hosts->v[i], e) < 0))
			return -1;
	return 0;
}

int reach_for_agent(struct context *c, struct task *t, const struct session_opts *o, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_strvec hosts = STRVEC_INIT;
	auto_fd home = -1;

	if (!o->agent)
		return 0;
	if (task_open(c, t, &at, e) < 0 || login_bring(c, &at, o, e) < 0)
		return -1;
	if (strcmp(o->net.mode, NETWORK_ALLOW) != 0)
		return 0;
	home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strvec_pushv(&hosts, (const char *const *)o->agent->hosts.v);
	agent_endpoints(&c->config, o->agent, environ, o->env, home, &hosts);
	return bring_hosts(c, t, o, &hosts, e);
}
