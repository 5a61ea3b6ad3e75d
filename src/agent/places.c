#include "agent/agent.h"

#include <string.h>

#include "agent/endpoints.h"
#include "base/alloc.h"
#include "base/path.h"

/* The value of a variable: one that is given for this run, else the user's. NULL if there is none. */
static const char *value_of(const struct agent_env *env, const char *name, size_t len)
{
	for (size_t i = 0; env->extra && i < env->extra->n; i++)
		if (!strncmp(env->extra->v[i], name, len) && env->extra->v[i][len] == '=')
			return env->extra->v[i] + len + 1;
	for (char *const *p = env->users; p && *p; p++)
		if (!strncmp(*p, name, len) && (*p)[len] == '=')
			return *p + len + 1;
	return NULL;
}

char *agent_users_path(const struct config_agent *a, const struct agent_env *env, const char *path)
{
	for (size_t i = 0; i < a->dirs.n; i++) {
		const char *entry = a->dirs.v[i], *equals = strchr(entry, '=');
		size_t name = strcspn(entry, "/=");
		auto_str sub = xstrndup(entry + name, (size_t)(equals - entry) - name);
		const char *value = value_of(env, entry, name);
		size_t below = strlen(equals + 1);

		if (!value || *value != '/' || !path_within(path, equals + 1))
			continue;
		return xasprintf("%s%s%s", value, sub, path + below);
	}
	return xstrdup(path);
}

/* A URL with a name or a password in it, or with a question mark, may hold a secret. */
static bool may_hold_secret(const char *value)
{
	return strpbrk(value, "@?#") != NULL;
}

static bool is_of_dirs(const struct config_agent *a, const char *name, size_t len)
{
	for (size_t i = 0; i < a->dirs.n; i++)
		if (strcspn(a->dirs.v[i], "/=") == len && !strncmp(a->dirs.v[i], name, len))
			return true;
	return false;
}

void agent_kept_variables(const struct config_agent *a, char *const *environ_now, struct strvec *ret)
{
	for (char *const *p = environ_now; a && p && *p; p++) {
		size_t len = strcspn(*p, "=");

		if (!(*p)[len] || may_hold_secret(*p + len + 1))
			continue;
		if (is_of_dirs(a, *p, len) ||
			(config_env_matches(&a->env, *p, len) && endpoint_is_named(*p, len)))
			strvec_push(ret, *p);
	}
}
