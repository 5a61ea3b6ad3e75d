#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "mcp/message.h"
#include "mcp_files/files.h"

const char *arg_bytes(const struct mcp_call *c, const char *name, size_t *len)
{
	const json_t *v = json_object_get(c->args, name);

	*len = json_string_length(v);
	return json_string_value(v);
}

const char *arg_text(const struct mcp_call *c, const char *name)
{
	return message_text(json_object_get(c->args, name));
}

bool arg_flag(const struct mcp_call *c, const char *name)
{
	return json_is_true(json_object_get(c->args, name));
}

bool arg_number(const struct mcp_call *c, const char *name, int64_t *ret)
{
	const json_t *v = json_object_get(c->args, name);

	if (!v)
		return false;
	*ret = (int64_t)json_number_value(v);
	return true;
}

/* Removes empty, "." and ".." parts of an absolute path, as text. */
static char *clean(const char *path)
{
	auto_str copy = xstrdup(path);
	auto_strvec parts = STRVEC_INIT;
	auto_buf out = BUF_INIT(1 << 20);
	char *save = NULL;

	for (char *part = strtok_r(copy, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		if (!strcmp(part, "."))
			continue;
		if (strcmp(part, ".."))
			strvec_push(&parts, part);
		else if (parts.n)
			free(parts.v[--parts.n]), parts.v[parts.n] = NULL;
	}
	for (size_t i = 0; i < parts.n; i++)
		buf_printf(&out, "/%s", parts.v[i]);
	return out.len ? buf_steal(&out) : xstrdup("/");
}

char *path_shown(const struct files *f, const char *path)
{
	return *path ? path_join(f->path, path) : xstrdup(f->path);
}

char *path_beneath(struct mcp_call *c, const char *given)
{
	const struct files *f = c->ctx;
	const char *home = getenv("HOME");
	auto_str whole = NULL, absolute = NULL;
	size_t n = strlen(f->path);

	if (given[0] == '/')
		whole = xstrdup(given);
	else if (given[0] == '~' && (given[1] == '/' || !given[1]))
		whole = xasprintf("%s%s", home ? home : "", given + 1);
	else
		whole = path_join(f->path, given);
	if (strlen(whole) > 32768) {
		tool_refuse(c, "bad_path", NULL, "the path is too long");
		return NULL;
	}
	absolute = clean(whole);
	if (!path_within(absolute, f->path)) {
		tool_refuse(c, "outside_workspace", absolute, "the path is outside the workspace");
		return NULL;
	}
	while (absolute[n] == '/')
		n++;
	return xstrdup(absolute + n);
}

char *arg_path(struct mcp_call *c, const char *name)
{
	const char *given = arg_text(c, name);

	if (given)
		return path_beneath(c, given);
	tool_refuse(c, "bad_path", NULL, "the path has a NUL character");
	return NULL;
}
