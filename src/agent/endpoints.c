#include "agent/endpoints.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hosts.h"

bool endpoint_is_named(const char *name, size_t len)
{
	static const char *const ends[] = { "_BASE_URL", "_HOST", "_ENDPOINT" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !strncmp(name + len - n, ends[i], n))
			return true;
	}
	return false;
}

/* The part between the scheme and the path. */
static char *host_of(const char *value)
{
	const char *scheme = strstr(value, "://"), *at;
	auto_str place = NULL;

	if (scheme)
		value = scheme + 3;
	place = xstrndup(value, strcspn(value, "/?#"));
	at = strrchr(place, '@');
	/* the address of a server that listens on all interfaces; a client uses it for its own machine */
	if (!strncmp(place, "0.0.0.0", 7) && (!place[7] || place[7] == ':'))
		return xasprintf("localhost%s", place + 7);
	return xstrdup(at ? at + 1 : place);
}

static void add(struct strvec *list, const char *host)
{
	struct err ignored = ERR_INIT;

	if (*host && !strchr(host, '*') && !hosts_check(host, &ignored) && !strvec_has(list, host))
		strvec_push(list, host);
}

void endpoint_add(const char *value, struct strvec *ret)
{
	auto_str host = host_of(value);

	add(ret, host);
}

void agent_endpoints(const struct config *c, const struct config_agent *a, char *const *environ_now,
	const struct strvec *extra, int user_home, struct strvec *ret)
{
	const char *bedrock = NULL, *region = NULL;
	auto_strvec env = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (!a || agent_environment(c, a, environ_now, extra, NULL, &env, &ignored) < 0)
		return;
	for (size_t i = 0; i < env.n; i++) {
		size_t len = strcspn(env.v[i], "=");
		const char *value = env.v[i] + len + 1;

		if (!config_env_matches(&a->env, env.v[i], len))
			continue;
		if (endpoint_is_named(env.v[i], len))
			endpoint_add(value, ret);
		/* OpenCode accepts a whole configuration in a variable */
		if (*value == '{') {
			auto_buf text = BUF_INIT(1u << 20);

			buf_addstr(&text, value);
			endpoints_in("", &text, ret);
		}
		if (!strncmp(env.v[i], "AWS_REGION=", 11))
			region = value;
		else if (!strncmp(env.v[i], "CLAUDE_CODE_USE_BEDROCK=", 24) && *value && strcmp(value, "0"))
			bedrock = value;
	}
	endpoints_of_files(a, &(struct agent_env){ environ_now, extra }, user_home, ret);
	if (bedrock && region) {
		auto_str host = xasprintf("bedrock-runtime.%s.amazonaws.com", region);

		add(ret, host);
	}
}
