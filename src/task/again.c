#include "task/again.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/yaml.h"
#include "config/taskfile.h"
#include "sys/fd.h"
#include "task/repository_config.h"

#define AGAIN_NAME "again"
#define AGAIN_MAX  (1u << 20)
#define FILE_NAME  "task.yaml"
#define LIMITS     "limits.yaml" /* overrides the task file; one key a line */
#define ANSWER     "answer"
#define AGENT      "agent"
#define PUSH_OWED  "push-owed"

void again_release(struct again *a)
{
	strvec_release(&a->argv);
	strvec_release(&a->resume);
	strvec_release(&a->env);
	strvec_release(&a->ports);
	free(steal_ptr(a->agent));
	free(steal_ptr(a->push));
	free(steal_ptr(a->cwd));
}

/* A command line or a path may have bytes that are not UTF-8: such a word is stored as numbers. */
static json_t *json_bytes(const char *s)
{
	json_t *text = json_string(s);

	if (text)
		return text;
	text = json_array();
	for (const unsigned char *p = (const unsigned char *)s; *p; p++)
		json_array_append_new(text, json_integer(*p));
	return text;
}

static json_t *to_list(const struct strvec *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, json_bytes(v->v[i]));
	return list;
}

static char *from_bytes(const json_t *item)
{
	auto_buf bytes = BUF_INIT(AGAIN_MAX);
	const json_t *byte;
	size_t i;

	if (json_is_string(item))
		buf_addstr(&bytes, json_string_value(item));
	json_array_foreach(item, i, byte) buf_addch(&bytes, (char)json_integer_value(byte));
	return xstrdup(buf_str(&bytes));
}

static void from_list(const json_t *list, struct strvec *ret)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		auto_str word = from_bytes(item);

		strvec_push(ret, word);
	}
}

int again_save(int task_dir, const struct again *a, struct err *e)
{
	json_t *o = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "weaker", a->weaker, "ports",
		to_list(&a->ports), "argv", to_list(&a->argv), "resume", to_list(&a->resume), "env",
		to_list(&a->env), "agent", a->agent ? json_string(a->agent) : json_null(), "push",
		a->push ? json_string(a->push) : json_null(), "timeout", (json_int_t)a->timeout, "cwd",
		json_bytes(a->cwd ? a->cwd : ""));
	char *text = json_dumps(o, JSON_COMPACT);
	int rc = text ? write_file(task_dir, AGAIN_NAME, text, strlen(text), 0600, e)
		      : err_set(e, ERR_FAILED, "the command cannot be written down");

	free(text);
	json_decref(o);
	return rc;
}

int again_load(int task_dir, struct again *ret, struct err *e)
{
	auto_buf text = BUF_INIT(AGAIN_MAX);
	json_t *o;

	*ret = (struct again){ 0 };
	if (read_file(task_dir, AGAIN_NAME, &text, e) < 0)
		return -1;
	o = json_loadb(buf_str(&text), text.len, 0, NULL);
	if (!o)
		return err_set(e, ERR_FAILED, "what the task ran cannot be read");
	from_list(json_object_get(o, "argv"), &ret->argv);
	from_list(json_object_get(o, "resume"), &ret->resume);
	from_list(json_object_get(o, "env"), &ret->env);
	from_list(json_object_get(o, "ports"), &ret->ports);
	ret->weaker = json_is_true(json_object_get(o, "weaker"));
	if (json_is_string(json_object_get(o, "agent")))
		ret->agent = xstrdup(json_string_value(json_object_get(o, "agent")));
	if (json_is_string(json_object_get(o, "push")))
		ret->push = xstrdup(json_string_value(json_object_get(o, "push")));
	ret->cwd = from_bytes(json_object_get(o, "cwd"));
	ret->timeout = (uint64_t)json_integer_value(json_object_get(o, "timeout"));
	json_decref(o);
	return 0;
}

/* Replaces {session} and {answer}; replaced text is not searched again. */
static void fill_in(const char *word, const char *session, const char *answer, struct strvec *ret)
{
	static const char of_session[] = "{session}", of_answer[] = "{answer}";
	auto_buf out = BUF_INIT(AGAIN_MAX);

	while (*word) {
		if (!strncmp(word, of_session, sizeof(of_session) - 1)) {
			buf_addstr(&out, session);
			word += sizeof(of_session) - 1;
		} else if (answer && !strncmp(word, of_answer, sizeof(of_answer) - 1)) {
			buf_addstr(&out, answer);
			word += sizeof(of_answer) - 1;
		} else {
			buf_addch(&out, *word++);
		}
	}
	strvec_push(ret, buf_str(&out));
}

/* How many words from here on belong to this option; 0 if it is another one. */
static size_t option_words(const struct strvec *argv, size_t at, const char *option)
{
	size_t n = strcspn(option, "="), words;
	const char *word = argv->v[at];

	if (strncmp(word, option, n))
		return 0;
	if (!option[n])
		return !word[n];
	if (word[n] || at + 1 == argv->n)
		return word[n] == '=';
	words = 2;
	while (option[n + 1] == '+' && at + words < argv->n && argv->v[at + words][0] != '-')
		words++;
	return words;
}

static void keep_options(const struct strvec *argv, const struct strvec *options, struct strvec *ret)
{
	for (size_t i = 1; i < argv->n && strcmp(argv->v[i], "--"); i++) {
		size_t n = 0;

		for (size_t j = 0; j < options->n && !n; j++)
			n = option_words(argv, i, options->v[j]);
		for (size_t k = 0; k < n; k++)
			strvec_push(ret, argv->v[i + k]);
		i += n ? n - 1 : 0;
	}
}

static const struct strvec *words_of(const struct again *a, const struct config_agent *agent)
{
	return a->resume.n ? &a->resume : agent && agent->resume.n ? &agent->resume : &a->argv;
}

bool again_takes_answer(const struct again *a, const struct config_agent *agent)
{
	const struct strvec *words = words_of(a, agent);

	for (size_t i = 0; words != &a->argv && i < words->n; i++)
		if (strstr(words->v[i], "{answer}"))
			return true;
	return false;
}

void again_words(const struct again *a, const struct config_agent *agent, const char *session,
	const char *answer, struct strvec *ret)
{
	const struct strvec *words = words_of(a, agent);

	for (size_t i = 0; i < words->n; i++)
		if (agent && words != &a->argv && !strcmp(words->v[i], "{options}"))
			keep_options(&a->argv, &agent->options, ret);
		else
			fill_in(words->v[i], session, words == &a->argv ? NULL : answer, ret);
}

void again_first(const struct strvec *argv, const char *session, struct strvec *ret)
{
	for (size_t i = 0; i < argv->n; i++)
		fill_in(argv->v[i], session, NULL, ret);
}

/* The text stays empty if there is no such file. */
static int read_if_there(int task_dir, const char *name, struct buf *text, struct err *e)
{
	struct err why = ERR_INIT;

	if (task_dir < 0 || !read_file(task_dir, name, text, &why) || why.kind == ERR_NOTFOUND)
		return 0;
	*e = why;
	return -1;
}

int again_configure(struct config *c, int task_dir, struct err *e)
{
	auto_buf file = BUF_INIT(YAML_MAX_BYTES), limits = BUF_INIT(YAML_MAX_BYTES),
		 repository = BUF_INIT(YAML_MAX_BYTES);
	auto_taskfile ignored = { 0 };

	if (read_if_there(task_dir, REPOSITORY_CONFIG, &repository, e) < 0 ||
		config_apply_repository(c, buf_str(&repository), repository.len, REPO_SETTINGS, e) < 0)
		return -1;
	if (read_if_there(task_dir, FILE_NAME, &file, e) < 0 ||
		read_if_there(task_dir, LIMITS, &limits, e) < 0)
		return -1;
	if (file.len && taskfile_apply(c, buf_str(&file), file.len, FILE_NAME, &ignored, e) < 0)
		return -1;
	return limits.len ? config_apply(c, buf_str(&limits), limits.len, LIMITS, e) : 0;
}

int again_keep_repository(int task_dir, const struct buf *text, struct err *e)
{
	return write_file(task_dir, REPOSITORY_CONFIG, buf_str(text), text->len, 0600, e);
}

int again_keep_file(int task_dir, const char *text, size_t len, struct err *e)
{
	return write_file(task_dir, FILE_NAME, text, len, 0600, e);
}

bool again_owes_push(int task_dir)
{
	return !faccessat(task_dir, PUSH_OWED, F_OK, AT_SYMLINK_NOFOLLOW);
}

void again_owe_push(int task_dir, bool owes)
{
	struct err ignored = ERR_INIT;

	if (owes)
		write_file(task_dir, PUSH_OWED, "", 0, 0600, &ignored);
	else
		unlinkat(task_dir, PUSH_OWED, 0);
}

char *again_answer(int task_dir)
{
	auto_buf text = BUF_INIT(AGAIN_MAX);
	struct err ignored = ERR_INIT;

	return read_file(task_dir, ANSWER, &text, &ignored) < 0 ? NULL : xstrdup(buf_str(&text));
}

int again_keep_answer(int task_dir, const char *text, struct err *e)
{
	return write_file(task_dir, ANSWER, text, strlen(text), 0600, e);
}

/* Copies all lines but the key's. */
static void copy_others(const struct buf *from, const char *key, struct buf *to)
{
	auto_str own = xasprintf("  %s: ", key);

	for (const char *l = buf_str(from); *l; l += strcspn(l, "\n") + 1)
		if (*l == ' ' && strncmp(l, own, strlen(own)) != 0)
			buf_printf(to, "%.*s\n", (int)strcspn(l, "\n"), l);
}

/* Splits "NAME=VALUE"; both are plain words, so that they can stand in a line of YAML. */
static int split_limit(const char *limit, char **ret_key, const char **ret_value, struct err *e)
{
	size_t n = strcspn(limit, "=");
	const char *value = limit[n] ? limit + n + 1 : "";

	if (!n || strspn(limit, "abcdefghijklmnopqrstuvwxyz_") != n || !*value ||
		value[strcspn(value, " \t\n:#{}[],&*!|>'\"%@`")])
		return err_set(e, ERR_USAGE, "a limit is given as NAME=VALUE, such as max_files=500");
	*ret_key = xstrndup(limit, n);
	*ret_value = value;
	return 0;
}

int again_try_limits(struct config *c, const struct strvec *limits, struct err *e)
{
	for (size_t i = 0; i < limits->n; i++) {
		auto_str key = NULL, text = NULL;
		const char *value;

		if (split_limit(limits->v[i], &key, &value, e) < 0)
			return -1;
		text = xasprintf("limits:\n  %s: %s\n", key, value);
		if (config_apply(c, text, strlen(text), NULL, e) < 0) {
			e->kind = ERR_USAGE;
			return err_wrap(e, "--limit %s", limits->v[i]);
		}
	}
	return 0;
}

/* Adds the limit to the lines of limits.yaml, or replaces its line. */
static int set_limit(const char *limit, struct buf *lines, struct err *e)
{
	auto_buf others = BUF_SMALL;
	auto_str key = NULL;
	const char *value;

	if (split_limit(limit, &key, &value, e) < 0)
		return -1;
	copy_others(lines, key, &others);
	buf_printf(&others, "  %s: %s\n", key, value);
	buf_cut(lines, 0);
	buf_addstr(lines, buf_str(&others));
	return 0;
}

int again_limit(int task_dir, const struct strvec *limits, struct err *e)
{
	auto_buf lines = BUF_SMALL, text = BUF_SMALL;
	auto_config tried = { 0 };
	struct err none = ERR_INIT;

	if (!limits->n)
		return 0;
	config_defaults(&tried);
	if (again_try_limits(&tried, limits, e) < 0)
		return -1;
	read_file(task_dir, LIMITS, &lines, &none);
	for (size_t i = 0; i < limits->n; i++)
		if (set_limit(limits->v[i], &lines, e) < 0)
			return -1;
	buf_printf(&text, "limits:\n%s", buf_str(&lines));
	return write_file(task_dir, LIMITS, buf_str(&text), text.len, 0600, e);
}

char *again_agent(int task_dir)
{
	auto_buf name = BUF_SMALL;
	struct err ignored = ERR_INIT;
	auto_again a = { 0 };

	if (!again_load(task_dir, &a, &ignored))
		return a.agent ? steal_ptr(a.agent) : NULL;
	return read_file(task_dir, AGENT, &name, &ignored) < 0 ? NULL : buf_steal(&name);
}

int again_keep_agent(int task_dir, const char *name, struct err *e)
{
	return write_file(task_dir, AGENT, name, strlen(name), 0600, e);
}
