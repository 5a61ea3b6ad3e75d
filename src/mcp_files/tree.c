#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"
#include "sys/fd.h"

#define CUT "\n(not everything was visited: there is too much beneath this directory)"

static bool has_wildcard(const char *glob)
{
	return strchr(glob, '*') != NULL;
}

static bool is_excluded(const json_t *patterns, const char *path, bool anywhere)
{
	const json_t *v;
	size_t i;

	json_array_foreach((json_t *)patterns, i, v)
	{
		const char *glob = json_string_value(v);
		auto_str deep = xasprintf("**/%s", glob), within = xasprintf("**/%s/**", glob);

		if (match_path(glob, path))
			return true;
		if (anywhere && !has_wildcard(glob) && (match_path(deep, path) || match_path(within, path)))
			return true;
	}
	return false;
}

struct tree {
	const json_t *exclude;
	json_t *levels[FILES_DEPTH + 2]; /* borrowed: the list that entries of this depth go to */
};

static bool add_to_tree(const struct entry *e, void *arg)
{
	struct tree *t = arg;
	auto_buf name = BUF_SMALL;
	json_t *o;

	if (is_excluded(t->exclude, e->path, true))
		return false;
	add_name(&name, e->name);
	o = json_pack("{s:s, s:s}", "name", buf_str(&name), "type", e->is_dir ? "directory" : "file");
	if (e->is_dir) {
		t->levels[e->depth + 1] = json_array();
		json_object_set_new(o, "children", t->levels[e->depth + 1]);
	}
	json_array_append_new(t->levels[e->depth], o);
	return true;
}

void tool_tree(struct mcp_call *c)
{
	struct tree t = { .exclude = json_object_get(c->args, "excludePatterns") };
	auto_str path = arg_path(c, "path"), text = NULL;
	auto_fd dir = path ? open_directory(c, path) : -1;
	int rc;

	if (dir < 0)
		return;
	t.levels[0] = json_array();
	rc = walk_files(dir, add_to_tree, &t);
	text = json_dumps(t.levels[0], JSON_INDENT(2));
	json_decref(t.levels[0]);
	if (rc < 0)
		tool_refuse_errno(c, path, "list it");
	else if (rc > 0)
		tool_refuse(c, "too_large", path,
			"there are more than %u entries, or they are too deep: ask for a part of it",
			FILES_ENTRIES);
	else if (text)
		mcp_text(c, text, strlen(text));
}

struct search {
	const char *glob, *top;
	const json_t *exclude;
	struct buf out;
};

static bool add_match(const struct entry *e, void *arg)
{
	struct search *s = arg;

	if (is_excluded(s->exclude, e->path, false))
		return false;
	if (match_path(s->glob, e->path)) {
		buf_printf(&s->out, "%s%s/", s->out.len ? "\n" : "", s->top);
		add_name(&s->out, e->path);
	}
	return true;
}

void tool_search(struct mcp_call *c)
{
	struct search s = { .glob = arg_text(c, "pattern"),
		.exclude = json_object_get(c->args, "excludePatterns"),
		.out = BUF_INIT(FILES_TEXT_MAX) };
	auto_str path = arg_path(c, "path"), top = NULL;
	auto_fd dir = path ? open_directory(c, path) : -1;
	int rc;

	if (dir < 0)
		return;
	s.top = top = path_shown(c->ctx, path);
	s.glob = s.glob ? s.glob : "";
	rc = walk_files(dir, add_match, &s);
	if (rc < 0) {
		tool_refuse_errno(c, path, "search it");
	} else {
		if (rc > 0 || s.out.overflow)
			s.out.max += sizeof(CUT), buf_addstr(&s.out, CUT);
		mcp_text(c, s.out.len ? s.out.data : "No matches found", s.out.len ? s.out.len : 16);
	}
	buf_release(&s.out);
}
