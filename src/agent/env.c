#include "agent/agent.h"

#include "base/alloc.h"
#include "base/name.h"

/* Adds the pair, or replaces the one with the same name. */
static void set_pair(struct strvec *env, const char *pair, size_t name_len)
{
	for (size_t i = 0; i < env->n; i++) {
		if (strncmp(env->v[i], pair, name_len + 1))
			continue;
		free(env->v[i]);
		env->v[i] = xstrdup(pair);
		return;
	}
	strvec_push(env, pair);
}

static const char *find_pair(char *const *environ_now, const char *name, size_t len)
{
	for (; environ_now && *environ_now; environ_now++)
		if (!strncmp(*environ_now, name, len) && (*environ_now)[len] == '=')
			return *environ_now;
	return NULL;
}

static int add_extra(char *const *environ_now, const char *extra, struct strvec *env, struct err *e)
{
	size_t len = strcspn(extra, "=");
	const char *pair = extra[len] ? extra : find_pair(environ_now, extra, len);

	if (!name_is_variable(extra, len))
		return err_set(e, ERR_USAGE,
			"'%.*s' is not the name of a variable; NAME or NAME=VALUE is meant",
			(int)(len < 100 ? len : 100), extra);
	if (pair)
		set_pair(env, pair, len);
	return 0;
}

int agent_environment(const struct config *c, const struct config_agent *a, char *const *environ_now,
	const struct strvec *extra, const struct strvec *fixed, struct strvec *ret, struct err *e)
{
	auto_strvec env = STRVEC_INIT;

	for (size_t i = 0; a && i < a->set.n; i++)
		set_pair(&env, a->set.v[i], strcspn(a->set.v[i], "="));
	for (char *const *p = environ_now; p && *p; p++) {
		size_t len = strcspn(*p, "=");

		if (!(*p)[len] || !name_is_variable(*p, len))
			continue;
		if (config_env_matches(&c->env, *p, len) || (a && config_env_matches(&a->env, *p, len)))
			set_pair(&env, *p, len);
	}
	for (size_t i = 0; extra && i < extra->n; i++)
		if (add_extra(environ_now, extra->v[i], &env, e) < 0)
			return -1;
	for (size_t i = 0; fixed && i < fixed->n; i++)
		set_pair(&env, fixed->v[i], strcspn(fixed->v[i], "="));
	strvec_argv(&env);
	strvec_pushv(ret, (const char *const *)env.v);
	strvec_argv(ret);
	return 0;
}
