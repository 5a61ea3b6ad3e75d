#include "plan/quota.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "plan/ticket_task.h"

/* The keys of its facts. A ticket has the variables with which the task that asked was run. */
static void find_keys(const struct stage_job *j, const char *agent, struct strvec *ret)
{
	const struct config_agent *a = config_agent_by_name(&j->c->config, agent);
	auto_strvec extra = STRVEC_INIT, names = STRVEC_INIT;
	const struct agent_env env = { environ, &extra };
	struct err ignored = ERR_INIT;
	struct run_opts o = { 0 };

	strvec_pushf(ret, "quota/%s", agent);
	if (!a)
		return;
	(void)ticket_task_options(j, &o, &extra, &ignored);
	agent_login_names(a, &env, &names);
	for (size_t i = 0; i < names.n; i++)
		strvec_pushf(ret, "quota of %s", names.v[i]);
}

/* *ret is not lowered. */
static int read_time(const struct stage_job *j, const char *key, int64_t *ret, struct err *e)
{
	auto_str value = NULL;
	int64_t then;

	if (store_fact(j->c->store, key, &value, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	then = strtoll(value, NULL, 10);
	if (then > *ret)
		*ret = then;
	return 0;
}

int quota_until(const struct stage_job *j, const char *agent, int64_t *ret, struct err *e)
{
	auto_strvec keys = STRVEC_INIT;

	*ret = 0;
	if (context_store(j->c, e) < 0)
		return -1;
	find_keys(j, agent, &keys);
	for (size_t i = 0; i < keys.n; i++)
		if (read_time(j, keys.v[i], ret, e) < 0)
			return -1;
	if (*ret <= time(NULL))
		*ret = 0;
	return 0;
}

int quota_set(const struct stage_job *j, const char *agent, int64_t until, struct err *e)
{
	auto_strvec keys = STRVEC_INIT;

	if (context_store(j->c, e) < 0)
		return -1;
	find_keys(j, agent, &keys);
	for (size_t i = 0; i < keys.n; i++) {
		int64_t then = until;
		auto_str value = NULL;

		if (read_time(j, keys.v[i], &then, e) < 0)
			return -1;
		value = xasprintf("%lld", (long long)then);
		if (store_set_fact(j->c->store, keys.v[i], value, e) < 0)
			return -1;
	}
	return 0;
}
