#include "config/values.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/duration.h"
#include "base/keys.h"
#include "base/name.h"
#include "config/check.h"
#include "config/origin.h"

static const char *check_item(enum value_type type, const char *value)
{
	switch (type) {
	case VALUE_TOOLS:
		return check_tool(value);
	case VALUE_LOGIN:
		return check_login(value);
	case VALUE_VARIABLES:
		return check_variable(value);
	case VALUE_SETTINGS:
		return check_setting(value);
	case VALUE_FILES:
		return check_file(value);
	case VALUE_SHOWN:
		return check_shown(value);
	case VALUE_DIRS:
		return check_dir(value);
	case VALUE_PROGRAMS:
		return check_program(value);
	case VALUE_GLOBS:
		return check_glob(value);
	case VALUE_HOSTS:
		return check_host(value);
	case VALUE_INPUTS:
		return check_input(value);
	case VALUE_PATTERNS:
		return check_pattern(value);
	default:
		return NULL;
	}
}

static int read_list(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, struct strvec *to, struct err *e)
{
	auto_strvec items = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (yaml_strings(y, s->file, what, &items, e) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++) {
		const char *wrong = check_item(row->type, items.v[i]);
		const struct yaml *item = y->kind == YAML_LIST ? y->items[i] : y;

		if (wrong)
			return yaml_error(item, s->file, e, "'%s' in '%s' %s", items.v[i], what, wrong);
		/* the order of patterns counts: a later one can take an earlier one back */
		if (strvec_has(to, items.v[i]) && row->type != VALUE_PATTERNS)
			continue;
		strvec_push(to, items.v[i]);
		origin_note(s, what, items.v[i], item->line, item->column);
	}
	return 0;
}

static const char *check_rule(const struct source *s, enum rule_kind kind, const char *glob)
{
	if (*glob != '/')
		return check_glob(glob);
	if (kind == RULE_DENY_READ || kind == RULE_DENY_WRITE)
		return check_deny(glob);
	if (kind == RULE_ALLOW_WRITE && s->task)
		return "is outside the workspace, and belongs in the user's configuration, not in a task file";
	return check_allow_read(glob, s->config->home);
}

static void add_path(struct strvec *paths, struct strvec *at, const char *path, const char *where)
{
	if (strvec_has(paths, path))
		return;
	strvec_push(paths, path);
	strvec_push(at, where);
}

/* A list of globs. "~/" is the home. An absolute path that is allowed is also one to show. */
static int read_path_rules(
	const struct source *s, const struct yaml *y, enum rule_kind kind, const char *what, struct err *e)
{
	struct config *c = s->config;
	auto_strvec items = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (yaml_strings(y, s->file, what, &items, e) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++) {
		const struct yaml *item = y->kind == YAML_LIST ? y->items[i] : y;
		bool in_home = !strncmp(items.v[i], "~/", 2) && c->home;
		auto_str glob = in_home ? xasprintf("%s%s", c->home, items.v[i] + 1) : xstrdup(items.v[i]);
		auto_str where = xasprintf("%s:%u", s->file, item->line);
		const char *wrong = check_rule(s, kind, glob);

		if (wrong)
			return yaml_error(item, s->file, e, "'%s' in '%s' %s", items.v[i], what, wrong);
		rules_add(&c->policy.rules, kind, glob, where);
		origin_note(s, what, glob, item->line, item->column);
		if (*glob == '/' && kind == RULE_ALLOW_READ)
			add_path(&c->allow_read, &c->allow_read_at, glob, where);
		if (*glob == '/' && kind == RULE_ALLOW_WRITE)
			add_path(&c->allow_write, &c->allow_write_at, glob, where);
	}
	return 0;
}

static int read_choice(const struct source *s, const struct yaml *y, const char *const *choices,
	const char *what, char **to, struct err *e)
{
	unsigned i;

	if (yaml_choice(y, s->file, what, choices, &i, e) < 0)
		return -1;
	free(*to);
	*to = xstrdup(choices[i]);
	return 0;
}

static int read_number(const struct source *s, const struct yaml *y, uint64_t least, const char *what,
	uint64_t *to, struct err *e)
{
	uint64_t n;

	if (yaml_whole(y, s->file, what, &n, e) < 0)
		return -1;
	if (n < least)
		return yaml_error(y, s->file, e, "'%s' must be a number above 0", what);
	*to = n;
	return 0;
}

static int read_port(
	const struct source *s, const struct yaml *y, const char *what, uint64_t *to, struct err *e)
{
	uint64_t n;

	if (read_number(s, y, 0, what, &n, e) < 0)
		return -1;
	if (n > 65535)
		return yaml_error(y, s->file, e, "'%s' must be a port, up to 65535", what);
	*to = n;
	return 0;
}

static int read_person(
	const struct source *s, const struct yaml *y, const char *what, char **to, struct err *e)
{
	auto_str value = NULL;
	const char *wrong;

	if (yaml_string(y, s->file, what, &value, e) < 0)
		return -1;
	wrong = check_person(value);
	if (wrong)
		return yaml_error(y, s->file, e, "'%s' in '%s' %s", value, what, wrong);
	free(*to);
	*to = steal_ptr(value);
	return 0;
}

static struct config_operation *operation_named(struct config *c, const char *name)
{
	for (size_t i = 0; i < c->noperations; i++)
		if (!strcmp(c->operations[i].name, name))
			return &c->operations[i];
	c->operations = xrealloc(c->operations, c->noperations + 1, sizeof(*c->operations));
	c->operations[c->noperations] = (struct config_operation){ .name = xstrdup(name) };
	return &c->operations[c->noperations++];
}

static int read_rules(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, struct err *e)
{
	if (yaml_is_null(y))
		return 0;
	if (y->kind != YAML_MAP)
		return yaml_error(y, s->file, e, "'%s' must be a mapping of git commands to rules", what);
	for (size_t i = 0; i < y->n; i++) {
		const char *name = y->keys[i].name;
		auto_str key = xasprintf("%s.%s", what, name);
		const char *wrong = check_verb(name);
		auto_str rule = NULL;
		struct config_operation *o;

		if (wrong)
			return yaml_key_error(y, i, s->file, e, "'%s' in '%s' %s", name, what, wrong);
		if (read_choice(s, y->items[i], row->choices, key, &rule, e) < 0)
			return -1;
		o = operation_named(s->config, name);
		free(o->rule);
		o->rule = steal_ptr(rule);
		origin_note(s, what, name, y->keys[i].line, y->keys[i].column);
	}
	return 0;
}

/* "*" stands for every directory that is known so far. */
/* `at` is where the file says so. */
static void set_one_cache(
	const struct source *s, const char *what, const char *path, const char *mode, const struct yaml *at)
{
	config_cache_set(s->config, path, mode);
	origin_note(s, what, path, at->line, at->column);
}

static void set_cache(
	const struct source *s, const char *what, const char *path, const char *mode, const struct yaml *at)
{
	if (strcmp(path, "*") != 0) {
		set_one_cache(s, what, path + strlen("~/"), mode, at);
		return;
	}
	for (size_t i = 0; i < s->config->ncaches; i++) {
		auto_str each = xstrdup(s->config->caches[i].path);

		set_one_cache(s, what, each, mode, at);
	}
}

static int read_cache(const struct source *s, const struct yaml *map, size_t i, const struct value_row *row,
	const char *what, struct err *e)
{
	const char *path = map->keys[i].name;
	auto_str key = xasprintf("%s.%s", what, path);
	const char *wrong = strcmp(path, "*") ? check_cache(path) : NULL;
	auto_str mode = NULL;

	if (wrong)
		return yaml_key_error(map, i, s->file, e, "'%s' in '%s' %s", path, what, wrong);
	if (read_choice(s, map->items[i], row->choices, key, &mode, e) < 0)
		return -1;
	set_cache(s, what, path, mode, map->items[i]);
	return 0;
}

/* One mode for all, a list of paths, or a mapping of paths to modes. */
static int read_caches(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, struct err *e)
{
	auto_str mode = NULL;

	if (yaml_is_null(y))
		return 0;
	if (y->kind == YAML_SCALAR) {
		if (read_choice(s, y, row->choices, what, &mode, e) < 0)
			return -1;
		set_cache(s, what, "*", mode, y);
		return 0;
	}
	for (size_t i = 0; y->kind == YAML_MAP && i < y->n; i++)
		if (read_cache(s, y, i, row, what, e) < 0)
			return -1;
	for (size_t i = 0; y->kind == YAML_LIST && i < y->n; i++) {
		auto_str path = NULL;
		const char *wrong;

		if (yaml_string(y->items[i], s->file, what, &path, e) < 0)
			return -1;
		wrong = check_cache(path);
		if (wrong)
			return yaml_error(y->items[i], s->file, e, "'%s' in '%s' %s", path, what, wrong);
		set_cache(s, what, path, CACHE_TASK, y->items[i]);
	}
	return 0;
}

static int read_text(const struct source *s, const struct yaml *y, const char *what, char **to, struct err *e)
{
	auto_str value = NULL;

	if (yaml_string(y, s->file, what, &value, e) < 0)
		return -1;
	if (!*value)
		return yaml_error(y, s->file, e, "'%s' is empty", what);
	free(*to);
	*to = steal_ptr(value);
	return 0;
}

static int read_name(const struct source *s, const struct yaml *y, bool is_task, const char *what, char **to,
	struct err *e)
{
	struct err why = ERR_INIT;
	const char *name;

	if (read_text(s, y, what, to, e) < 0)
		return -1;
	if (is_task)
		return name_check_task(*to, &why) < 0 ? yaml_error(y, s->file, e, "'%s': %s", what, why.msg)
						      : 0;
	name = *to + (strncmp(*to, "refs/heads/", 11) ? 0 : 11);
	return name_is_branch(name)
		       ? 0
		       : yaml_error(y, s->file, e, "'%s' in '%s' is not a branch's name", *to, what);
}

static int read_time(
	const struct source *s, const struct yaml *y, const char *what, uint64_t *to, struct err *e)
{
	uint64_t seconds;

	if (y->kind != YAML_SCALAR || !duration_parse(y->scalar, &seconds))
		return yaml_error(y, s->file, e, "'%s' must be a time, such as " DURATION_EXAMPLES, what);
	if (!seconds)
		return yaml_error(y, s->file, e, "'%s' must be a time above 0", what);
	*to = seconds;
	return 0;
}

static int read_keys(const struct source *s, const struct yaml *y, const char *what, char **to, struct err *e)
{
	struct err why = ERR_INIT;
	auto_str value = NULL;
	struct keys keys;

	if (yaml_string(y, s->file, what, &value, e) < 0)
		return -1;
	if (keys_set(&keys, value, &why) < 0)
		return yaml_error(y, s->file, e, "'%s': %s", what, why.msg);
	free(*to);
	*to = steal_ptr(value);
	return 0;
}

static int read_words(
	const struct source *s, const struct yaml *y, const char *what, struct strvec *to, struct err *e)
{
	auto_strvec words = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (y->kind != YAML_LIST || !y->n)
		return yaml_error(y, s->file, e, "'%s' must be a list of words, as in [make, test]", what);
	if (yaml_strings(y, s->file, what, &words, e) < 0)
		return -1;
	strvec_release(to);
	*to = words;
	words = (struct strvec)STRVEC_INIT;
	return 0;
}

static int read_command(
	const struct source *s, const struct yaml *y, const char *what, struct strvec *to, struct err *e)
{
	const char *wrong;

	if (yaml_is_null(y))
		return 0;
	wrong = y->kind == YAML_LIST && y->n && y->items[0]->kind == YAML_SCALAR
			? check_command(y->items[0]->scalar)
			: NULL;
	if (wrong)
		return yaml_error(
			y->items[0], s->file, e, "'%s' in '%s' %s", y->items[0]->scalar, what, wrong);
	return read_words(s, y, what, to, e);
}

static int read_choices(const struct source *s, const struct yaml *y, const char *const *choices,
	const char *what, struct strvec *to, struct err *e)
{
	auto_strvec chosen = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (y->kind != YAML_LIST) {
		auto_buf known = BUF_SMALL;

		yaml_add_choices(&known, choices);
		return yaml_error(y, s->file, e, "'%s' must be a list of %s", what, buf_str(&known));
	}
	for (size_t i = 0; i < y->n; i++) {
		auto_str one = NULL;

		if (read_choice(s, y->items[i], choices, what, &one, e) < 0)
			return -1;
		strvec_push(&chosen, one);
	}
	strvec_release(to);
	*to = chosen;
	chosen = (struct strvec)STRVEC_INIT;
	return 0;
}

/* Quotes a word for a shell if it needs that. */
static void add_word(struct buf *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+=:,@%";

	if (out->len)
		buf_addch(out, ' ');
	if (*word && strspn(word, plain) == strlen(word)) {
		buf_addstr(out, word);
		return;
	}
	buf_addch(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_addstr(out, "'\\''");
		else
			buf_addch(out, *word);
	}
	buf_addch(out, '\'');
}

/* A command is a text for a shell, or a list of words. */
static int read_one_command(
	const struct source *s, const struct yaml *y, const char *what, struct strvec *to, struct err *e)
{
	auto_strvec words = STRVEC_INIT;
	auto_buf line = BUF_INIT(YAML_MAX_BYTES * 4);

	if (y->kind == YAML_SCALAR && !yaml_is_null(y) && y->scalar[strspn(y->scalar, " \t\n")])
		return strvec_push(to, y->scalar), 0;
	if (y->kind != YAML_LIST || !y->n)
		return yaml_error(y, s->file, e,
			"a command in '%s' must be a text for a shell, or a list of words", what);
	if (yaml_strings(y, s->file, what, &words, e) < 0)
		return -1;
	if (!*words.v[0])
		return yaml_error(y->items[0], s->file, e, "a command in '%s' has no program", what);
	for (size_t i = 0; i < words.n; i++)
		add_word(&line, words.v[i]);
	strvec_push(to, buf_str(&line));
	return 0;
}

static void replace(struct strvec *to, struct strvec *by)
{
	strvec_release(to);
	*to = *by;
	*by = (struct strvec)STRVEC_INIT;
}

static int read_commands(
	const struct source *s, const struct yaml *y, const char *what, struct strvec *to, struct err *e)
{
	auto_strvec lines = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (y->kind != YAML_LIST && read_one_command(s, y, what, &lines, e) < 0)
		return -1;
	for (size_t i = 0; y->kind == YAML_LIST && i < y->n; i++)
		if (read_one_command(s, y->items[i], what, &lines, e) < 0)
			return -1;
	replace(to, &lines);
	return 0;
}

static int read_inputs(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, struct strvec *to, struct err *e)
{
	auto_strvec globs = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (read_list(s, y, row, what, &globs, e) < 0)
		return -1;
	replace(to, &globs);
	return 0;
}

bool value_is_list(enum value_type type)
{
	return type >= VALUE_TOOLS;
}

int value_read(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	void *to, struct err *e)
{
	switch (row->type) {
	case VALUE_CHOICE:
		return read_choice(s, y, row->choices, what, to, e);
	case VALUE_SIZE:
		return yaml_size(y, s->file, what, to, e);
	case VALUE_NUMBER:
		return read_number(s, y, 0, what, to, e);
	case VALUE_POSITIVE:
		return read_number(s, y, 1, what, to, e);
	case VALUE_PORT:
		return read_port(s, y, what, to, e);
	case VALUE_BOOL:
		return yaml_bool(y, s->file, what, to, e);
	case VALUE_PERSON:
		return read_person(s, y, what, to, e);
	case VALUE_KEYS:
		return read_keys(s, y, what, to, e);
	case VALUE_TEXT:
		return read_text(s, y, what, to, e);
	case VALUE_TASK:
	case VALUE_AGENT:
	case VALUE_BRANCH:
		return read_name(s, y, row->type != VALUE_BRANCH, what, to, e);
	case VALUE_TIME:
		return read_time(s, y, what, to, e);
	case VALUE_WORDS:
		return read_words(s, y, what, to, e);
	case VALUE_COMMAND:
		return read_command(s, y, what, to, e);
	case VALUE_CHOICES:
		return read_choices(s, y, row->choices, what, to, e);
	case VALUE_ALLOW_READ:
		return read_path_rules(s, y, RULE_ALLOW_READ, what, e);
	case VALUE_ALLOW_WRITE:
		return read_path_rules(s, y, RULE_ALLOW_WRITE, what, e);
	case VALUE_DENY_READ:
		return read_path_rules(s, y, RULE_DENY_READ, what, e);
	case VALUE_DENY_WRITE:
		return read_path_rules(s, y, RULE_DENY_WRITE, what, e);
	case VALUE_CACHES:
		return read_caches(s, y, row, what, e);
	case VALUE_RULES:
		return read_rules(s, y, row, what, e);
	case VALUE_COMMANDS:
		return read_commands(s, y, what, to, e);
	case VALUE_INPUTS:
		return read_inputs(s, y, row, what, to, e);
	default:
		return read_list(s, y, row, what, to, e);
	}
}
