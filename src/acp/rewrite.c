#include "acp/rewrite.h"

#include <string.h>

#include "acp/rpc.h"
#include "base/alloc.h"

/* json_string, or the value as it was if the text is not UTF-8. */
static void set_text(json_t *o, const char *member, const char *text)
{
	json_t *v = json_string(text);

	if (v)
		json_object_set_new(o, member, v);
}

static int take_directories(const struct rewrite *r, json_t *list, struct err *e)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *path = json_string_value(json_array_get(list, i));
		auto_str inside = path ? paths_inside(r->paths, path) : NULL;

		if (!inside && path && *path == '/' && r->is_shown(path, r->arg))
			continue;
		if (!inside) {
			err_set(e, ERR_REFUSED,
				"the directory '%s' is not in the project '%s', and the task is not shown it",
				path ? path : "", r->paths->main_top);
			return err_hint(e, "jail: {allow_read: [%s]}", path ? path : "");
		}
		json_array_set_new(list, i, json_string(inside));
	}
	return 0;
}

/* An argument that is exactly a path of the project is translated. */
static void take_arguments(const struct rewrite *r, json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *word = json_string_value(json_array_get(list, i));
		auto_str inside = word && *word == '/' ? paths_inside(r->paths, word) : NULL;

		if (inside)
			json_array_set_new(list, i, json_string(inside));
	}
}

/* A server's secrets are in its variables and headers. */
static void take_secrets(const struct rewrite *r, json_t *server, const char *name)
{
	static const char *const members[] = { "env", "headers" };

	if (r->mcp_secrets && (strvec_has(r->mcp_secrets, name) || strvec_has(r->mcp_secrets, "*")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_t *list = json_object_get(server, members[i]);

		if (!json_array_size(list))
			continue;
		strvec_pushf(r->notes,
			"the %s of MCP server '%s' may hold secrets and stay outside; --mcp-secrets %s passes them in",
			i ? "headers" : "variables", name, name);
		json_array_clear(list);
	}
}

/* The agent starts these servers, so they run inside. Only a server in the editor's own process does not. */
static bool take_server(const struct rewrite *r, json_t *server)
{
	const char *name = rpc_text(server, "name"), *type = rpc_text(server, "type"),
		   *command = rpc_text(server, "command");
	auto_str inside = command && *command == '/' ? paths_inside(r->paths, command) : NULL;

	name = name ? name : "";
	if (json_object_get(server, "type") &&
		(!type || (strcmp(type, "http") && strcmp(type, "sse") && strcmp(type, "stdio")))) {
		strvec_pushf(r->notes,
			"the MCP server '%s' is not one that could start inside: it is left out", name);
		return false;
	}
	if (inside)
		set_text(server, "command", inside);
	take_arguments(r, json_object_get(server, "args"));
	take_secrets(r, server, name);
	return true;
}

static void take_servers(const struct rewrite *r, json_t *list)
{
	for (size_t i = json_array_size(list); i--;)
		if (!take_server(r, json_array_get(list, i)))
			json_array_remove(list, i);
}

int rewrite_open(const struct rewrite *r, const char *cwd, json_t *params, struct err *e)
{
	if (take_directories(r, json_object_get(params, "additionalDirectories"), e) < 0)
		return -1;
	set_text(params, "cwd", cwd);
	take_servers(r, json_object_get(params, "mcpServers"));
	return 0;
}

/* An embedded resource contains its text; its path is only a label. */
static void take_label(const struct rewrite *r, json_t *o)
{
	const char *uri = rpc_text(o, "uri");
	auto_str inside = uri ? paths_uri_inside(r->paths, uri) : NULL;

	if (inside)
		set_text(o, "uri", inside);
}

static int take_link(const struct rewrite *r, json_t *block, struct err *e)
{
	const char *uri = rpc_text(block, "uri");
	auto_str inside = NULL;

	if (uri && !paths_uri_is_file(uri))
		return 0;
	inside = uri ? paths_uri_inside(r->paths, uri) : NULL;
	if (!inside)
		return err_set(e, ERR_REFUSED, "the file '%s' is not in the project '%s'", uri ? uri : "",
			r->paths->main_top);
	set_text(block, "uri", inside);
	return 0;
}

int rewrite_prompt(const struct rewrite *r, json_t *blocks, struct err *e)
{
	json_t *block;
	size_t i;

	json_array_foreach(blocks, i, block)
	{
		const char *type = rpc_text(block, "type");

		if (!type)
			continue;
		if (!strcmp(type, "resource_link") && take_link(r, block, e) < 0)
			return -1;
		if (!strcmp(type, "resource"))
			take_label(r, json_object_get(block, "resource"));
		else if (!strcmp(type, "image"))
			take_label(r, block);
	}
	return 0;
}
