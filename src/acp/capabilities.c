#include "acp/capabilities.h"

#include <stdio.h>
#include <string.h>

#include "acp/rpc.h"
#include "base/alloc.h"
#include "config/config.h"

struct kept {
	const char *group, *member; /* member NULL: the whole of it */
};

/* Of the editor, in both versions. */
static const struct kept of_client[] = {
	{ "session", "compaction" }, { "session", "configOptions" }, { "session", "notices" },
	{ "elicitation", "form" }, { "plan", NULL },
	{ "_meta", "terminal_output" }, /* colours of a command that the agent has run itself */
};

/* Of the agent. */
static const struct kept of_agent_1[] = {
	{ "loadSession", NULL },
	{ "promptCapabilities", NULL },
	{ "mcpCapabilities", "http" },
	{ "mcpCapabilities", "sse" },
	{ "sessionCapabilities", "additionalDirectories" },
	{ "sessionCapabilities", "resume" },
	{ "_meta", NULL },
};
static const struct kept of_agent_2[] = {
	{ "session", "prompt" },
	{ "session", "additionalDirectories" },
	{ "_meta", NULL },
};

static void keep(const json_t *from, const struct kept *rows, size_t n, json_t *to)
{
	for (size_t i = 0; i < n; i++) {
		json_t *v = json_object_get(from, rows[i].group), *group = json_object_get(to, rows[i].group);

		if (rows[i].member)
			v = json_object_get(v, rows[i].member);
		if (!v || json_is_null(v))
			continue;
		if (!rows[i].member) {
			json_object_set(to, rows[i].group, v);
			continue;
		}
		if (!group)
			json_object_set_new(to, rows[i].group, group = json_object());
		json_object_set(group, rows[i].member, v);
	}
}

static void keep_object(const json_t *from, const char *name, json_t *to)
{
	json_t *v = json_object_get(from, name);

	if (json_is_object(v))
		json_object_set(to, name, v);
}

/* An editor that speaks both versions sends the members of both. */
json_t *capabilities_of_client(const json_t *params)
{
	static const char *const names[] = { "clientCapabilities", "capabilities" };
	json_int_t version = json_integer_value(json_object_get(params, "protocolVersion"));
	json_t *ret = json_object();

	json_object_set_new(ret, "protocolVersion",
		json_integer(version < 1                 ? 1
			     : version > ACP_VERSION_MAX ? ACP_VERSION_MAX
							 : version));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *from = json_object_get(params, names[i]);
		json_t *to;

		if (!json_is_object(from))
			continue;
		to = json_object();
		keep(from, of_client, ARRAY_SIZE(of_client), to);
		json_object_set_new(ret, names[i], to);
	}
	keep_object(params, "clientInfo", ret);
	keep_object(params, "info", ret);
	return ret;
}

bool capabilities_has_notices(const json_t *params, int version)
{
	const json_t *session = json_object_get(json_object_get(params, "clientCapabilities"), "session");

	return version > 1 || json_is_object(json_object_get(session, "notices"));
}

/* The variables that a way to log in asks for; NULL if the agent would not get one of them. */
static json_t *variables(const json_t *list, const struct strvec *passed)
{
	json_t *ret = json_array(), *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		const char *name = rpc_text(v, "name");

		if (!name || !passed || !config_env_matches(passed, name, strlen(name))) {
			json_decref(ret);
			return NULL;
		}
		json_array_append_new(ret, json_pack("{s:s}", "name", name));
	}
	return ret;
}

/* NULL for a way to log in with a command or a page, which the editor would use outside. */
static json_t *log_in(const json_t *v, const struct strvec *passed)
{
	static const char *const members[] = { "type", "id", "methodId", "name", "description" };
	const char *type = json_object_get(v, "type") ? rpc_text(v, "type") : "agent";
	json_t *ret, *vars = NULL;

	if (!json_is_object(v) || !type)
		return NULL;
	if (!strcmp(type, "env_var"))
		vars = variables(json_object_get(v, "vars"), passed);
	if (!vars && strcmp(type, "agent") != 0)
		return NULL;
	ret = json_object();
	for (size_t k = 0; k < ARRAY_SIZE(members); k++)
		if (rpc_text(v, members[k]))
			json_object_set(ret, members[k], json_object_get(v, members[k]));
	if (vars)
		json_object_set_new(ret, "vars", vars);
	return ret;
}

static json_t *log_ins(const json_t *list, const struct strvec *passed)
{
	json_t *ret = json_array(), *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		json_t *one = log_in(v, passed);

		if (one)
			json_array_append_new(ret, one);
	}
	return ret;
}

static json_t *of_version_1(const json_t *result)
{
	json_t *to = json_object(), *session;

	keep(json_object_get(result, "agentCapabilities"), of_agent_1, ARRAY_SIZE(of_agent_1), to);
	session = json_object_get(to, "sessionCapabilities");
	if (!session)
		json_object_set_new(to, "sessionCapabilities", session = json_object());
	json_object_set_new(session, "close", json_object());
	if (json_is_true(json_object_get(to, "loadSession")) || json_object_get(session, "resume"))
		json_object_set_new(session, "list", json_object());
	return to;
}

static json_t *of_version_2(const json_t *result)
{
	const json_t *from = json_object_get(result, "capabilities"),
		     *mcp = json_object_get(json_object_get(from, "session"), "mcp");
	static const struct kept servers[] = { { "stdio", NULL }, { "http", NULL } };
	json_t *to = json_object(), *kept;

	keep(from, of_agent_2, ARRAY_SIZE(of_agent_2), to);
	if (!json_is_object(json_object_get(from, "session")))
		return to;
	if (!json_object_get(to, "session"))
		json_object_set_new(to, "session", json_object());
	if (json_is_object(mcp)) {
		kept = json_object();
		keep(mcp, servers, ARRAY_SIZE(servers), kept);
		json_object_set_new(json_object_get(to, "session"), "mcp", kept);
	}
	return to;
}

json_t *capabilities_of_agent(const json_t *result, const struct strvec *passed, char why[160])
{
	const json_t *version = json_object_get(result, "protocolVersion");
	json_int_t n = json_integer_value(version);
	json_t *ret;

	if (!json_is_integer(version) || n < 1 || n > ACP_VERSION_MAX) {
		snprintf(why, 160, "the agent speaks a version of the protocol that garth does not know");
		return NULL;
	}
	ret = json_object();
	json_object_set_new(ret, "protocolVersion", json_integer(n));
	if (n == 1)
		json_object_set_new(ret, "agentCapabilities", of_version_1(result));
	else
		json_object_set_new(ret, "capabilities", of_version_2(result));
	keep_object(result, n == 1 ? "agentInfo" : "info", ret);
	json_object_set_new(ret, "authMethods", log_ins(json_object_get(result, "authMethods"), passed));
	return ret;
}

bool capabilities_can_close(const json_t *result)
{
	const json_t *v = json_object_get(result, "agentCapabilities");

	if (json_integer_value(json_object_get(result, "protocolVersion")) > 1)
		return json_is_object(json_object_get(json_object_get(result, "capabilities"), "session"));
	return json_is_object(json_object_get(json_object_get(v, "sessionCapabilities"), "close"));
}
