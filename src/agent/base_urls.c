/* Finds the address of an agent's model in its configuration files. */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/endpoints.h"
#include "agent/settings.h"
#include "base/alloc.h"
#include "sys/fd.h"

#define FILE_BYTES (1u << 20)
#define DEPTH_MAX  32

/* "baseURL", "base_url", or a variable's name that stands for an endpoint. */
static bool names_base_url(const char *key)
{
	char bare[64];
	size_t n = 0;

	for (const char *p = key; *p && n < sizeof(bare) - 1; p++)
		if (isalnum((unsigned char)*p))
			bare[n++] = (char)tolower((unsigned char)*p);
	bare[n] = '\0';
	return path_ends_in(bare, "baseurl") || endpoint_is_named(key, strlen(key));
}

/* Tool servers belong to third parties: that a configuration names one must not open the network to it. */
static bool is_of_tools(const char *key)
{
	static const char *const names[] = { "mcp", "mcpServers", "mcp_servers", "extensions" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

static void search(const json_t *in, unsigned depth, struct strvec *ret)
{
	const char *key;
	json_t *value;
	size_t i;

	if (depth > DEPTH_MAX)
		return;
	json_array_foreach(in, i, value) search(value, depth + 1, ret);
	json_object_foreach((json_t *)in, key, value)
	{
		if (is_of_tools(key))
			continue;
		if (json_is_string(value) && names_base_url(key))
			endpoint_add(json_string_value(value), ret);
		search(value, depth + 1, ret);
	}
}

/* For TOML and files of variables: NAME = "value", anywhere on a line. */
static void search_line(char *line, struct strvec *ret)
{
	for (char *equals = line; (equals = strchr(equals, '=')); equals++) {
		char *end = equals, *start, *value = equals + 1;
		auto_str name = NULL, text = NULL;
		size_t n;

		while (end > line && isblank((unsigned char)end[-1]))
			end--;
		for (start = end;
			start > line && (isalnum((unsigned char)start[-1]) || strchr("_-", start[-1]));)
			start--;
		name = xstrndup(start, (size_t)(end - start));
		value += strspn(value, " \t");
		n = strchr("\"'", *value) && *value ? 1 : 0;
		text = xstrndup(value + n, strcspn(value + n, n ? "\"'" : " \t,}#"));
		if (names_base_url(name))
			endpoint_add(text, ret);
	}
}

static void search_text(struct buf *text, struct strvec *ret)
{
	char *save = NULL;
	bool tools = false;

	for (char *l = text->len ? strtok_r(text->data, "\r\n", &save) : NULL; l;
		l = strtok_r(NULL, "\r\n", &save)) {
		l += strspn(l, " \t");
		if (*l == '[') {
			auto_str table = xstrndup(l + 1, strcspn(l + 1, ".]"));

			tools = is_of_tools(table);
		}
		if (*l != '#' && !tools)
			search_line(l, ret);
	}
}

void endpoints_in(const char *path, struct buf *text, struct strvec *ret)
{
	json_t *tree = settings_parse(path, text);

	if (tree)
		search(tree, 0, ret);
	else if (!path_ends_in(path, ".json"))
		search_text(text, ret);
	json_decref(tree);
}

void endpoints_of_files(
	const struct config_agent *a, const struct agent_env *env, int user_home, struct strvec *ret)
{
	for (size_t i = 0; i < a->login.n; i++) {
		auto_str path = agent_users_path(a, env, a->login.v[i]);
		auto_fd fd = openat(user_home, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		auto_buf text = BUF_INIT(FILE_BYTES);
		struct err ignored = ERR_INIT;

		if (fd >= 0 && !read_rest(fd, &text, a->login.v[i], &ignored))
			endpoints_in(a->login.v[i], &text, ret);
	}
}
