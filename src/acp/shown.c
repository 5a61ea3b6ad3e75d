#include "acp/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "acp/rpc.h"
#include "base/alloc.h"
#include "base/path.h"

#define LIST_MAX 1000

/* Whether a file that is not there would be made in the workspace: the editor follows a link, also one to nothing. */
static bool is_new_inside(const struct paths *p, const char *path)
{
	auto_str at = xstrdup(path);
	struct stat st;

	/* "LINK/.." is above where the link leads */
	if (strstr(path, "/../"))
		return false;
	for (; strlen(at) > strlen(p->workspace); *strrchr(at, '/') = '\0') {
		auto_str real = canonicalize_file_name(at);

		if (real || !lstat(at, &st))
			return real && path_within(real, p->workspace);
		if (errno != ENOENT && errno != ENOTDIR)
			return false;
	}
	return true;
}

/* An agent can make links and pipes where the editor sees its files. It can do so after this check, too: then the editor
 * shows a file that the user may see anyway, and the agent learns nothing. */
static bool is_ordinary(const struct paths *p, const char *path)
{
	auto_str real = canonicalize_file_name(path);
	struct stat st;

	if (!real)
		return is_new_inside(p, path);
	return path_within(real, p->workspace) && !stat(real, &st) &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static bool is_followed(const struct paths *p, const json_t *path)
{
	const char *text = json_string_value(path);

	return text && strlen(text) == json_string_length(path) && paths_is_inside(p, text) &&
	       is_ordinary(p, text);
}

/* Each path is looked up on the disk, so their number is limited: an agent could keep others waiting. */
static void cut(json_t *list)
{
	while (json_array_size(list) > LIST_MAX)
		json_array_remove(list, json_array_size(list) - 1);
}

static void clean_locations(const struct paths *p, json_t *o)
{
	json_t *list = json_object_get(o, "locations");

	cut(list);
	for (size_t i = json_array_size(list); i--;)
		if (!is_followed(p, json_object_get(json_array_get(list, i), "path")))
			json_array_remove(list, i);
}

/* The first path of a diff that is not in the workspace, or NULL. */
static const json_t *other_file(const struct paths *p, const json_t *diff)
{
	static const char *const members[] = { "path", "oldPath" };
	const json_t *changes = json_object_get(diff, "changes"), *path = json_object_get(diff, "path");

	if (json_array_size(changes) > LIST_MAX)
		return diff;
	if (!changes)
		return is_followed(p, path) ? NULL : path ? path : diff;
	for (size_t i = 0; i < json_array_size(changes); i++)
		for (size_t k = 0; k < ARRAY_SIZE(members); k++) {
			path = json_object_get(json_array_get(changes, i), members[k]);
			if (path && !is_followed(p, path))
				return path;
		}
	return NULL;
}

/* A tool call's content, one block of it. */
static void clean_block(const struct paths *p, json_t *block)
{
	const char *type = rpc_text(block, "type");
	const json_t *other;

	if (type && !strcmp(type, "content"))
		json_object_del(json_object_get(block, "content"), "icons");
	if (!type || strcmp(type, "diff") || !(other = other_file(p, block)))
		return;
	auto_str text = xasprintf("(a change of %.1000s, which is not in the workspace)",
		json_is_string(other) ? json_string_value(other) : "a file");
	json_t *said =
		json_pack("{s:s, s:{s:s, s:s}}", "type", "content", "content", "type", "text", "text", text);

	json_object_clear(block);
	json_object_update(block, said);
	json_decref(said);
}

static void clean_content(const struct paths *p, json_t *content)
{
	if (json_is_object(content)) {
		json_object_del(content, "icons");
		clean_block(p, content);
	}
	cut(content);
	for (size_t i = 0; i < json_array_size(content); i++) {
		json_object_del(json_array_get(content, i), "icons");
		clean_block(p, json_array_get(content, i));
	}
}

static void clean_call(const struct paths *p, json_t *call)
{
	clean_locations(p, call);
	clean_content(p, json_object_get(call, "content"));
}

void shown_clean(const struct paths *p, json_t *params)
{
	clean_call(p, json_object_get(params, "update"));
	clean_call(p, json_object_get(params, "toolCall"));
	clean_call(p, json_object_get(json_object_get(params, "subject"), "toolCall"));
}
