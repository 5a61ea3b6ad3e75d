#include "task/again.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/yaml.h"
#include "config/taskfile.h"
#include "sys/fd.h"

#define AGAIN_NAME "again"
#define AGAIN_MAX  (1u << 20)
#define FILE_NAME  "task.yaml"

void again_release(struct again *a)
{
	strvec_release(&a->argv);
	strvec_release(&a->resume);
	strvec_release(&a->env);
	strvec_release(&a->ports);
	free(steal_ptr(a->agent));
	free(steal_ptr(a->push));
}

/* A command line may have bytes that are no text: those are kept as numbers. */
static json_t *to_list(const struct strvec *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++) {
		json_t *text = json_string(v->v[i]);

		if (!text) {
			text = json_array();
			for (const unsigned char *p = (const unsigned char *)v->v[i]; *p; p++)
				json_array_append_new(text, json_integer(*p));
		}
		json_array_append_new(list, text);
	}
	return list;
}

static void from_list(const json_t *list, struct strvec *ret)
{
	const json_t *item, *byte;
	size_t i, j;

	json_array_foreach(list, i, item)
	{
		auto_buf bytes = BUF_INIT(AGAIN_MAX);

		if (json_is_string(item))
			buf_addstr(&bytes, json_string_value(item));
		json_array_foreach(item, j, byte) buf_addch(&bytes, (char)json_integer_value(byte));
		strvec_push(ret, buf_str(&bytes));
	}
}

int again_save(int task_dir, const struct again *a, struct err *e)
{
	json_t *o = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "weaker", a->weaker, "ports",
		to_list(&a->ports), "argv", to_list(&a->argv), "resume", to_list(&a->resume), "env",
		to_list(&a->env), "agent", a->agent ? json_string(a->agent) : json_null(), "push",
		a->push ? json_string(a->push) : json_null(), "timeout", (json_int_t)a->timeout);
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
		return err_set(e, ERR_FAILED, "what the task ran is not to be read");
	from_list(json_object_get(o, "argv"), &ret->argv);
	from_list(json_object_get(o, "resume"), &ret->resume);
	from_list(json_object_get(o, "env"), &ret->env);
	from_list(json_object_get(o, "ports"), &ret->ports);
	ret->weaker = json_is_true(json_object_get(o, "weaker"));
	if (json_is_string(json_object_get(o, "agent")))
		ret->agent = xstrdup(json_string_value(json_object_get(o, "agent")));
	if (json_is_string(json_object_get(o, "push")))
		ret->push = xstrdup(json_string_value(json_object_get(o, "push")));
	ret->timeout = (uint64_t)json_integer_value(json_object_get(o, "timeout"));
	json_decref(o);
	return 0;
}

/* What is put in is not looked at again. */
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

void again_words(const struct again *a, const struct config_agent *agent, const char *session,
	const char *answer, struct strvec *ret)
{
	const struct strvec *words = a->resume.n                ? &a->resume
				     : agent && agent->resume.n ? &agent->resume
								: &a->argv;

	for (size_t i = 0; i < words->n; i++)
		fill_in(words->v[i], session, words == &a->argv ? NULL : answer, ret);
}

void again_first(const struct strvec *argv, const char *session, struct strvec *ret)
{
	for (size_t i = 0; i < argv->n; i++)
		fill_in(argv->v[i], session, NULL, ret);
}

int again_configure(struct config *c, int task_dir, struct err *e)
{
	auto_buf text = BUF_INIT(YAML_MAX_BYTES);
	auto_taskfile ignored = { 0 };
	struct err why = ERR_INIT;

	if (task_dir < 0 || read_file(task_dir, FILE_NAME, &text, &why) < 0) {
		if (task_dir < 0 || why.kind == ERR_NOTFOUND)
			return 0;
		*e = why;
		return -1;
	}
	return taskfile_apply(c, buf_str(&text), text.len, FILE_NAME, &ignored, e);
}

int again_keep_file(int task_dir, const char *text, size_t len, struct err *e)
{
	return write_file(task_dir, FILE_NAME, text, len, 0600, e);
}
