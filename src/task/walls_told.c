#include "task/walls_told.h"

#include <jansson.h>
#include <string.h>

#include "agent/jsonc.h"
#include "base/alloc.h"
#include "task/brief.h"

#define TEXT_MAX (256u << 10)

/* What stands for a word in braces. */
struct word {
	const char *name, *text;
};

static void fill_in(const char *template, const struct word *words, size_t n, struct buf *out)
{
	while (*template) {
		size_t i = 0;

		while (i < n && strncmp(template, words[i].name, strlen(words[i].name)) != 0)
			i++;
		if (i < n)
			buf_addstr(out, words[i].text);
		else
			buf_addch(out, *template);
		template += i < n ? strlen(words[i].name) : 1;
	}
}

static bool is_there(const struct jail *j, const char *path)
{
	for (size_t i = 0; i < j->nrows; i++)
		if (!strcmp(j->rows[i].target, path))
			return true;
	return false;
}

/* Adds the members of one JSON text to those of another. What cannot be parsed stays as it is. */
static void add_members(const char *more, struct buf *text)
{
	json_t *all = jsonc_parse(buf_str(text), text->len), *added = jsonc_parse(more, strlen(more));
	char *dump = NULL;

	if (all && added && !json_object_update_recursive(all, added))
		dump = json_dumps(all, JSON_INDENT(2));
	if (dump) {
		buf_reset(text);
		buf_printf(text, "%s\n", dump);
	}
	free(dump);
	json_decref(all);
	json_decref(added);
}

static void add_told(const char *path, const char *more, struct buf *text)
{
	auto_buf both = BUF_INIT(TEXT_MAX);
	size_t len = strlen(path);

	if (len > 5 && !strcmp(path + len - 5, ".json")) {
		add_members(more, text);
		return;
	}
	buf_addstr(&both, more);
	buf_add(&both, buf_str(text), text->len);
	buf_reset(text);
	buf_add(text, both.data, both.len);
	text->overflow |= both.overflow;
}

/* What the texts are made of. */
struct told {
	const char *user_home;
	const struct word *words;
	size_t n;
	const struct strvec *more; /* of walls_opts; may be NULL */
	const struct strvec *mcp;  /* of all agents; NULL: they are not given the file tools */
	struct jail *j;
};

/* The path of an entry, and its text. The path is on the heap. */
static char *path_of(const struct told *t, const char *entry, const char **ret_text)
{
	size_t len = strcspn(entry, "=");

	*ret_text = entry + len + 1;
	return *entry == '~' ? xasprintf("%s%.*s", t->user_home, (int)len - 1, entry + 1)
			     : xstrndup(entry, len);
}

/* Adds what a list has for this file. */
static void add_all_told(const struct told *t, const struct strvec *told, const char *path, struct buf *text)
{
	for (size_t i = 0; told && i < told->n; i++) {
		const char *more;
		auto_str where = path_of(t, told->v[i], &more);

		if (!strcmp(where, path))
			add_told(path, more, text);
	}
}

static int add_file(const struct told *t, const char *entry, struct err *e)
{
	const char *own;
	auto_str path = path_of(t, entry, &own);
	auto_buf text = BUF_INIT(TEXT_MAX);

	/* two agents may read the same file */
	if (is_there(t->j, path))
		return 0;
	fill_in(own, t->words, t->n, &text);
	add_all_told(t, t->more, path, &text);
	add_all_told(t, t->mcp, path, &text);
	if (text.overflow)
		return err_set(e, ERR_CONFIG, "the text for '%s' is too long", path);
	jail_add(t->j, JAIL_DATA, 0, buf_str(&text), path);
	return 0;
}

/* Whether the entry is for a copy of the user's file, which is changed when it is copied (agent/login.c). */
static bool is_login(const struct config_agent *a, const char *entry)
{
	auto_str path = *entry == '~' ? xstrndup(entry + 2, strcspn(entry, "=") - 2) : xstrdup("");

	return strvec_has(&a->login, path);
}

static int add_list(const struct told *t, const struct config_agent *a, const struct strvec *entries,
	bool is_run, struct err *e)
{
	for (size_t i = 0; i < entries->n; i++)
		if ((is_run || entries->v[i][0] != '~') && !is_login(a, entries->v[i]) &&
			add_file(t, entries->v[i], e) < 0)
			return -1;
	return 0;
}

/* Files that are there for the file tools alone. */
static int add_mcp(struct told *t, const struct config_agent *a, bool is_run, struct err *e)
{
	const struct strvec *mcp = t->mcp;

	t->mcp = NULL;
	if (add_list(t, a, &a->mcp, is_run, e) < 0)
		return -1;
	t->mcp = mcp;
	return 0;
}

static int add_files(struct told *t, const struct config_agent *a, bool is_run, struct err *e)
{
	if (add_list(t, a, &a->files, is_run, e) < 0)
		return -1;
	return t->mcp ? add_mcp(t, a, is_run, e) : 0;
}

/* As a string of JSON, which is one of TOML and JavaScript too; on the heap. */
static char *quote(const char *text)
{
	json_t *string = json_string(text);
	char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;

	json_decref(string);
	return quoted ? quoted : xstrdup("\"\"");
}

int walls_told(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *j, struct err *e)
{
	auto_buf brief = BUF_INIT(TEXT_MAX);
	auto_str brief_json = NULL, workspace_json = quote(at->task->workspace);
	auto_strvec mcp = STRVEC_INIT;

	if (brief_write(c, at, o->net, &brief, e) < 0)
		return -1;
	brief_json = quote(buf_str(&brief));
	const struct word words[] = { { "{brief}", buf_str(&brief) }, { "{brief_json}", brief_json },
		{ "{brief_file}", INSIDE_BRIEF }, { "{workspace}", at->task->workspace },
		{ "{workspace_json}", workspace_json } };
	struct told t = { c->user_home, words, ARRAY_SIZE(words), o->told, c->config.mcp ? &mcp : NULL, j };

	for (size_t i = 0; i < c->config.nagents; i++)
		strvec_pushv(&mcp, (const char *const *)c->config.agents[i].mcp.v);

	jail_add(j, JAIL_DATA, 0, buf_str(&brief), INSIDE_BRIEF);
	for (size_t i = 0; i < c->config.nagents; i++)
		if (add_files(&t, &c->config.agents[i],
			    o->agent && !strcmp(c->config.agents[i].name, o->agent->name), e) < 0)
			return -1;
	return 0;
}
