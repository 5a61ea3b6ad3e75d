#include "task/task_command.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"

#define COMMAND_FILE "command"
#define OLD_FILE     "again" /* its name in tasks of earlier versions */

void task_command_release(struct task_command *cmd)
{
	strvec_release(&cmd->argv);
	strvec_release(&cmd->resume);
	strvec_release(&cmd->env);
	strvec_release(&cmd->kept);
	strvec_release(&cmd->ports);
	free(steal_ptr(cmd->agent));
	free(steal_ptr(cmd->push));
	free(steal_ptr(cmd->cwd));
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
	auto_buf bytes = BUF_INIT(TASK_COMMAND_MAX);
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

int task_command_save(int task_dir, const struct task_command *cmd, struct err *e)
{
	json_t *o = json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "weaker",
		cmd->weaker, "literal", cmd->literal, "ports", to_list(&cmd->ports), "argv",
		to_list(&cmd->argv), "resume", to_list(&cmd->resume), "env", to_list(&cmd->env), "kept",
		to_list(&cmd->kept), "agent", cmd->agent ? json_string(cmd->agent) : json_null(), "push",
		cmd->push ? json_string(cmd->push) : json_null(), "timeout", (json_int_t)cmd->timeout, "cwd",
		json_bytes(cmd->cwd ? cmd->cwd : ""));
	char *text = json_dumps(o, JSON_COMPACT);
	int rc = text ? write_file(task_dir, COMMAND_FILE, text, strlen(text), 0600, e)
		      : err_set(e, ERR_FAILED, "the command cannot be written down");

	if (!rc)
		unlinkat(task_dir, OLD_FILE, 0);
	free(text);
	json_decref(o);
	return rc;
}

static int read_command(int task_dir, struct buf *text, struct err *e)
{
	struct err why = ERR_INIT;

	if (!read_file(task_dir, COMMAND_FILE, text, &why))
		return 0;
	if (why.kind == ERR_NOTFOUND)
		return read_file(task_dir, OLD_FILE, text, e);
	*e = why;
	return -1;
}

int task_command_load(int task_dir, struct task_command *ret, struct err *e)
{
	auto_buf text = BUF_INIT(TASK_COMMAND_MAX);
	json_t *o;

	*ret = (struct task_command){ 0 };
	if (read_command(task_dir, &text, e) < 0)
		return -1;
	o = json_loadb(buf_str(&text), text.len, 0, NULL);
	if (!o)
		return err_set(e, ERR_FAILED, "what the task ran cannot be read");
	from_list(json_object_get(o, "argv"), &ret->argv);
	from_list(json_object_get(o, "resume"), &ret->resume);
	from_list(json_object_get(o, "env"), &ret->env);
	from_list(json_object_get(o, "kept"), &ret->kept);
	from_list(json_object_get(o, "ports"), &ret->ports);
	ret->weaker = json_is_true(json_object_get(o, "weaker"));
	ret->literal = json_is_true(json_object_get(o, "literal"));
	if (json_is_string(json_object_get(o, "agent")))
		ret->agent = xstrdup(json_string_value(json_object_get(o, "agent")));
	if (json_is_string(json_object_get(o, "push")))
		ret->push = xstrdup(json_string_value(json_object_get(o, "push")));
	ret->cwd = from_bytes(json_object_get(o, "cwd"));
	ret->timeout = (uint64_t)json_integer_value(json_object_get(o, "timeout"));
	json_decref(o);
	return 0;
}
