#include "runtime/choose_network.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "runtime/control.h"
#include "runtime/login.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/network.h"

/* An agent that is run in a task that was made for another command has to reach its model. */
static void add_agents(const struct config_agent *a, struct network *n)
{
	for (size_t i = 0; a && !strcmp(n->mode, NETWORK_ALLOW) && i < a->hosts.n; i++)
		if (!strvec_has(&n->allow, a->hosts.v[i]))
			strvec_push(&n->allow, a->hosts.v[i]);
}

static int add_endpoints(const struct context *c, struct run_opts *o, struct err *e)
{
	auto_fd home = -1;

	if (!o->agent || strcmp(o->net.mode, NETWORK_ALLOW))
		return 0;
	home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	agent_endpoints(&c->config, o->agent, environ, o->env, home, &o->net.allow);
	return network_check_forwards(&o->net, e);
}

int runtime_choose_network(const struct context *c, const char *mode, const struct strvec *hosts,
	struct run_opts *o, struct err *e)
{
	if (network_choose(&c->config, o->agent, mode, hosts, &o->net, e) < 0)
		return -1;
	return add_endpoints(c, o, e);
}

int runtime_network_landlock_only(struct run_opts *o, struct err *e)
{
	if (walls_check_landlock_only(&o->net, e) < 0)
		return -1;
	if (!strcmp(o->net.mode, NETWORK_ALLOW)) {
		free(o->net.mode);
		o->net.mode = xstrdup(NETWORK_NONE);
	}
	return 0;
}

int runtime_network(struct context *c, struct task *t, const char *mode, const struct strvec *hosts,
	struct run_opts *o, struct err *e)
{
	auto_fd dir = -1;
	bool busy = task_is_busy(c, t);
	struct err none = ERR_INIT;

	o->net_asked = mode || (hosts && hosts->n);
	/* check what was asked for, even if it is not used */
	if (runtime_choose_network(c, mode, hosts, o, e) < 0)
		return -1;
	if ((o->net_asked && !busy) || home_task_dir(&c->home, t->id, &dir, &none) < 0)
		return 0;
	network_release(&o->net);
	if (network_load(dir, busy, &o->net, &none) < 0)
		return runtime_choose_network(c, mode, hosts, o, e);
	if (!busy) {
		add_agents(o->agent, &o->net);
		return add_endpoints(c, o, e);
	}
	return 0;
}

int reach_forward(struct context *c, struct task *t, int dir, const char *host, struct err *e)
{
	uint16_t ports[NETWORK_FORWARDS_MAX + 1];
	struct err why = ERR_INIT;
	auto_network n = { 0 };

	if (network_with(dir, task_is_busy(c, t), &c->config, host, &n, e) < 0)
		return -1;
	network_forwards(&n, ports);
	for (size_t i = 0; ports[i]; i++)
		if (control_forward(c, t, ports[i], &why) < 0 && why.kind != ERR_NOTFOUND) {
			*e = why;
			return -1;
		}
	return 0;
}

static int add_hosts(struct context *c, struct task *t, const struct run_opts *o, const struct strvec *hosts,
	struct err *e)
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

/* The keeper passes the table on to the proxy's process, before the command that comes after it. */
static int send_table(const struct outside *out, int conn, struct err *e)
{
	auto_buf packed = BUF_INIT(VAULT_MAX);

	if (!out->table.nsecrets)
		return 0;
	vault_pack(&out->table, &packed);
	if (packed.overflow || wire_send(conn, WIRE_CREDENTIALS, packed.data, packed.len) < 0)
		return err_sys(e, "cannot reach the task's keeper");
	return 0;
}

int reach_for_agent(struct context *c, struct task *t, const struct run_opts *o, int conn, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_strvec hosts = STRVEC_INIT;
	auto_outside out = { 0 };
	auto_fd home = -1;

	if (!o->agent)
		return 0;
	if (task_open(c, t, &at, e) < 0 || login_open(c, t, o, true, &out, e) < 0 ||
		login_copy(c, &at, o, &out, e) < 0 || send_table(&out, conn, e) < 0)
		return -1;
	if (strcmp(o->net.mode, NETWORK_ALLOW) != 0)
		return 0;
	home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strvec_pushv(&hosts, (const char *const *)o->agent->hosts.v);
	agent_endpoints(&c->config, o->agent, environ, o->env, home, &hosts);
	return add_hosts(c, t, o, &hosts, e);
}
