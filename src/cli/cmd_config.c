#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/checkout_changes.h"
#include "cli/cmd.h"
#include "cli/config_values.h"
#include "cli/config_yaml.h"
#include "cli/file_schema.h"
#include "cli/json.h"
#include "cli/say.h"
#include "task/here.h"
#include "task/repository_config.h"

static int print_schema(void)
{
	json_t *o = schema_of_files();

	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return 0;
}

/* Adds the layer of the repository around the current directory. *ret_commit: the commit that it is from, on the
 * heap; NULL if there is none. If the directory is in no repository of which a task can be made, there is none. */
static int add_repository(struct context *c, char **ret_commit, struct err *e)
{
	auto_buf text = BUF_INIT(REPO_SETTINGS_MAX + 1);
	auto_str cwd = get_current_dir_name();
	struct err why = ERR_INIT;
	auto_repo r = { 0 };
	bool there = false;

	if (!cwd)
		return 0;
	if (here_open(c, cwd, "HEAD", &r, &why) < 0) {
		if (why.kind != ERR_NOTFOUND)
			say_warning("no repository's file is read: %s", why.msg);
		return 0;
	}
	if (r.has_settings && repository_config_apply(&r, r.commit, &c->config, &there, &text, e) < 0)
		return -1;
	checkout_settings_tell(r.top, &text);
	*ret_commit = there ? steal_ptr(r.commit) : NULL;
	return 0;
}

static const json_t *find(const json_t *values, const char *key, struct err *e)
{
	struct nearest near = { .typed = key };
	char meant[NEAREST_TEXT_MAX];
	const json_t *v;
	size_t i;

	json_array_foreach(values, i, v)
	{
		const char *known = json_string_value(json_object_get(v, "key"));

		if (!strcmp(known, key))
			return v;
		nearest_try(&near, known, strlen(known));
	}
	err_set(e, ERR_NOTFOUND, "there is no key '%s'%s", key, nearest_text(&near, meant));
	return NULL;
}

/* As it is for a script; on a terminal without what it would not show. */
static void print_text(const char *s)
{
	auto_buf clean = BUF_INIT(8u << 20);

	printf("%s\n", isatty(1) ? say_one_line(&clean, s) : s);
}

static void print_plain(const json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(v))
		print_text(json_string_value(v));
	else if (json_is_boolean(v))
		printf("%s\n", json_is_true(v) ? "true" : "false");
	else if (json_is_integer(v))
		printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(v));
	json_object_foreach((json_t *)v, key, item) printf("%s: %s\n", key, json_string_value(item));
	json_array_foreach(v, i, item) print_text(json_string_value(item));
}

/* One value: the value alone on stdout, for scripts. */
static int print_one(const json_t *values, const char *key, bool json)
{
	struct err e = ERR_INIT;
	const json_t *v = find(values, key, &e);

	if (!v)
		return say_error(&e);
	if (json)
		return json_print(json_pack("{s:O, s:O, s:O}", "key", json_object_get(v, "key"), "value",
			json_object_get(v, "value"), "origin", json_object_get(v, "origin")));
	print_plain(json_object_get(v, "value"));
	return 0;
}

static json_t *text_or_null(const char *s)
{
	return s ? json_text(s) : json_null();
}

static int print_json(const json_t *values, const struct config *c, const char *commit)
{
	json_t *config = config_tree(values), *origins = json_object();
	const json_t *v;
	size_t i;

	json_array_foreach(values, i, v) json_object_set(
		origins, json_string_value(json_object_get(v, "key")), json_object_get(v, "origin"));
	json_object_set_new(config, "file", text_or_null(c->file));
	json_object_set_new(config, "system_file", text_or_null(c->system_file));
	json_object_set_new(config, "commit", text_or_null(commit));
	return json_print(json_pack(
		"{s:o, s:o, s:o}", "config", config, "origins", origins, "warnings", json_list(&c->notes)));
}

int cmd_config(int argc, char **argv)
{
	bool json = false, schema = false;
	const struct opt opts[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		{ 0, "schema", OPT_FLAG, &schema, NULL,
			"print a JSON schema of all configuration files and task files, for editors" },
		OPT_END,
	};
	struct cmd_line l = { "config", opts, 0, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_str commit = NULL;
	json_t *values;
	int rc = 0;

	CMD_PARSE(&l, argc, argv);
	if (schema)
		return print_schema();
	if (context_open_to_look(&c, &e) < 0 || add_repository(&c, &commit, &e) < 0)
		return say_error(&e);
	say_warnings(&c.config.notes);
	values = config_values(&c.config);
	if (l.words)
		rc = print_one(values, argv[0], json);
	else if (json)
		rc = print_json(values, &c.config, commit);
	else
		config_yaml(values, c.user_home);
	json_decref(values);
	return rc;
}
