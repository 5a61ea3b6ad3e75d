#include "agent/agent.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"

/* Most variables of an agent are settings, some with a number of tokens: OPENAI_BASE_URL, MAX_THINKING_TOKENS. */
static bool says_secret(const char *name, size_t len)
{
	static const char *const words[] = { "KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "LOGIN" };
	auto_str text = xstrndup(name, len);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *at = strcasestr(text, words[i]);

		if (at && (strcmp(words[i], "TOKEN") != 0 || strncasecmp(at, "TOKENS", 6) != 0))
			return true;
	}
	return false;
}

static void add_variable(const struct config_agent *a, const char *pair, struct strvec *ret)
{
	size_t len = strcspn(pair, "=");

	if (pair[len] && pair[len + 1] && config_env_matches(&a->env, pair, len) && says_secret(pair, len))
		strvec_pushf(ret, "variable %.*s", (int)len, pair);
}

void agent_login_names(const struct config_agent *a, const struct agent_env *env, struct strvec *ret)
{
	for (size_t i = 0; i < a->login.n; i++) {
		auto_str path = agent_users_path(a, env, a->login.v[i]);

		strvec_pushf(ret, "file %s", path);
	}
	for (char *const *p = env->users; p && *p; p++)
		add_variable(a, *p, ret);
	for (size_t i = 0; env->extra && i < env->extra->n; i++)
		add_variable(a, env->extra->v[i], ret);
}
