#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "guard/guard.h"

#define TEXT_MAX (1u << 20)

/* The tools of all clients. `member` is where the command or the path is; the first of several that is there. */
static const struct tool {
	const char *name;
	enum call_kind kind;
	const char *members[3];
} tools[] = {
	/* Claude Code */
	{ "Bash", CALL_SHELL, { "command" } },
	{ "Read", CALL_READ, { "file_path" } },
	{ "Edit", CALL_WRITE, { "file_path" } },
	{ "Write", CALL_WRITE, { "file_path" } },
	{ "MultiEdit", CALL_WRITE, { "file_path" } },
	{ "NotebookEdit", CALL_WRITE, { "notebook_path" } },
	{ "NotebookRead", CALL_READ, { "notebook_path" } },
	{ "Glob", CALL_READ, { "path" } },
	{ "Grep", CALL_READ, { "path" } },
	{ "LS", CALL_READ, { "path" } },
	/* Codex; its Bash is named as Claude's */
	{ "apply_patch", CALL_PATCH, { "command", "input", "patch" } },
	{ "shell", CALL_SHELL, { "command" } },
	{ "exec_command", CALL_SHELL, { "cmd", "command" } },
	{ "view_image", CALL_READ, { "path" } },
	/* Gemini CLI */
	{ "run_shell_command", CALL_SHELL, { "command" } },
	{ "read_file", CALL_READ, { "absolute_path", "file_path" } },
	{ "write_file", CALL_WRITE, { "file_path" } },
	{ "replace", CALL_WRITE, { "file_path" } },
	{ "list_directory", CALL_READ, { "path", "dir_path" } },
	{ "search_file_content", CALL_READ, { "path", "dir_path" } },
	{ "grep_search", CALL_READ, { "path", "dir_path" } },
	/* OpenCode; glob also Gemini's */
	{ "bash", CALL_SHELL, { "command" } },
	{ "read", CALL_READ, { "filePath" } },
	{ "edit", CALL_WRITE, { "filePath", "path" } },
	{ "write", CALL_WRITE, { "filePath", "path" } },
	{ "multiedit", CALL_WRITE, { "filePath" } },
	{ "patch", CALL_PATCH, { "patchText" } },
	{ "list", CALL_READ, { "path" } },
	{ "glob", CALL_READ, { "path", "dir_path" } },
	{ "grep", CALL_READ, { "path" } },
	/* Goose, whose names may begin with that of an extension; shell is above */
	{ "text_editor", CALL_WRITE, { "path" } },
	{ "tree", CALL_READ, { "path" } },
};

static const struct tool *find_tool(const char *name)
{
	static const char extension[] = "developer__";

	if (!strncmp(name, extension, strlen(extension)))
		name += strlen(extension);
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

static bool take(struct jread_at at, const char *name, struct buf *out)
{
	buf_reset(out);
	return jread_member(&at, name) && jread_string(&at, out) && !out->overflow;
}

/* A path as tools take it. */
static bool path_refused(
	const struct guard *g, const char *cwd, const char *path, enum want want, struct refusal *ret)
{
	auto_str in_home = !strncmp(path, "~/", 2) ? xasprintf("%s%s", g->facts->home, path + 1) : NULL;

	if (!place_refused(g, cwd, in_home ? in_home : path, want, true, ret))
		return false;
	snprintf(ret->tried, sizeof(ret->tried), "%s '%.900s'", want == WANT_READ ? "read" : "change", path);
	return true;
}

/* The files that a patch changes, in the form of Codex and OpenCode. It may be in a command too: apply_patch <<EOF. */
static bool patch_refused(const struct guard *g, const char *cwd, const char *patch, struct refusal *ret)
{
	static const char *const marks[] = {
		"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
	};

	for (const char *line = patch; *line;) {
		size_t len = strcspn(line, "\n");

		for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
			size_t n = strlen(marks[i]);
			auto_str path = NULL;

			if (len <= n || strncmp(line, marks[i], n) != 0)
				continue;
			path = xstrndup(line + n, len - n);
			path[strcspn(path, "\r")] = '\0';
			if (path_refused(g, cwd, path, WANT_WRITE, ret))
				return true;
		}
		line += len + (line[len] == '\n');
	}
	return false;
}

/* A command as a list of words: ["bash", "-lc", TEXT]. Others are passed to programs directly, and judged word by word. */
static bool words_refused(
	const struct guard *g, struct jread_at at, const char *cwd, struct refusal *ret, bool *ret_malformed)
{
	char here[GUARD_PATH_MAX];
	struct setting s = { .g = g, .cwd = here, .ret = ret };
	struct word words[64];
	size_t n = 0;
	bool refused;

	snprintf(here, sizeof(here), "%s", cwd);
	for (jread_array(&at); n < ARRAY_SIZE(words) && jread_next(&at); n++) {
		struct buf text = BUF_INIT(TEXT_MAX);

		if (!jread_string(&at, &text)) {
			buf_release(&text);
			*ret_malformed = true;
			break;
		}
		buf_addch(&text, '\0');
		words[n].text = buf_steal(&text);
		words[n].known = strlen(words[n].text);
		words[n].wildcard = false;
	}
	if (n == 3 && words[1].text[0] == '-' && strchr(words[1].text, 'c'))
		refused = shell_refused(g, words[2].text, words[2].known, cwd, ret);
	else
		refused = !*ret_malformed && command_refused(&s, words, n);
	if (refused && !*ret->tried)
		snprintf(ret->tried, sizeof(ret->tried), "run %.900s", words[0].text);
	while (n)
		free(words[--n].text);
	return refused;
}

static bool is_view(struct jread_at input)
{
	auto_buf command = BUF_SMALL;

	return take(input, "command", &command) && !strcmp(buf_str(&command), "view");
}

static enum decision decide_tool(const struct guard *g, const struct tool *t, struct jread_at input,
	const char *cwd, struct refusal *ret)
{
	auto_buf text = BUF_INIT(TEXT_MAX);
	struct jread_at at = input;
	bool refused, malformed = false;
	size_t i = 0;

	while (i < ARRAY_SIZE(t->members) && t->members[i] && (at = input, !jread_member(&at, t->members[i])))
		i++;
	/* for most tools that read, the path is optional; without it they mean the current directory */
	if (i == ARRAY_SIZE(t->members) || !t->members[i])
		return t->kind == CALL_READ || t->kind == CALL_PATCH ? DECISION_PASS : DECISION_MALFORMED;
	if (t->kind == CALL_SHELL && jread_peek(&at) == '[') {
		refused = words_refused(g, at, cwd, ret, &malformed);
		return malformed ? DECISION_MALFORMED : refused ? DECISION_REFUSE : DECISION_PASS;
	}
	if (jread_peek(&at) == 'n' && t->kind == CALL_READ)
		return DECISION_PASS;
	if (!jread_string(&at, &text))
		return DECISION_MALFORMED;
	if (text.overflow)
		return DECISION_PASS;
	if (t->kind == CALL_SHELL)
		refused = shell_refused(g, buf_str(&text), text.len, cwd, ret) ||
			  (strstr(buf_str(&text), "*** Begin Patch") &&
				  patch_refused(g, cwd, buf_str(&text), ret));
	else if (t->kind == CALL_PATCH)
		refused = patch_refused(g, cwd, buf_str(&text), ret);
	else
		refused = path_refused(g, cwd, buf_str(&text),
			t->kind == CALL_WRITE && !is_view(input) ? WANT_WRITE : WANT_READ, ret);
	return refused ? DECISION_REFUSE : DECISION_PASS;
}

enum decision guard_decide(const struct guard *g, const char *json, size_t len, struct refusal *ret)
{
	struct jread_at top = jread_at(json, len), input = top;
	auto_buf name = BUF_SMALL, cwd = BUF_SMALL, dir = BUF_SMALL;
	const struct tool *t;
	char here[GUARD_PATH_MAX];

	memset(ret, 0, sizeof(*ret));
	if (!jread_is_whole(json, len) || !take(top, "tool_name", &name) ||
		!jread_member(&input, "tool_input"))
		return DECISION_MALFORMED;
	t = find_tool(buf_str(&name));
	if (!t)
		return DECISION_PASS;
	if (jread_peek(&input) != '{')
		return DECISION_MALFORMED;
	if (!take(top, "cwd", &cwd) || *buf_str(&cwd) != '/')
		buf_reset(&cwd), buf_addstr(&cwd, g->facts->workspace);
	/* a directory of the call's own */
	if (!take(input, "workdir", &dir) && !take(input, "directory", &dir))
		buf_reset(&dir);
	if (t->kind == CALL_SHELL && *buf_str(&dir)) {
		if (path_refused(g, buf_str(&cwd), buf_str(&dir), WANT_READ, ret))
			return DECISION_REFUSE;
		if (place_resolve(buf_str(&cwd), buf_str(&dir), here, NULL))
			buf_reset(&cwd), buf_addstr(&cwd, here);
	}
	return decide_tool(g, t, input, buf_str(&cwd), ret);
}
