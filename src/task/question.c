#include "task/question.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "git/run.h"
#include "sys/fd.h"

#define OPEN_NAME   "question"
#define OLD_NAME    "question.old"
#define LEFT_NAME   "garth-question.json"
#define FILE_BYTES  (64u << 10)
#define OPTIONS_MAX 20

void question_release(struct question *q)
{
	free(steal_ptr(q->text));
	strvec_release(&q->options);
}

/* One of the two places where a file can be left, -1 where none is. *ret_dir has it. */
static int open_left(struct task_at *at, int *ret_dir, const char **ret_name)
{
	int fd;

	*ret_name = LEFT_NAME;
	*ret_dir = open_beneath(at->ws.dir, "tmp", O_RDONLY | O_DIRECTORY, 0);
	fd = *ret_dir < 0 ? -1 : open_regular_beneath(*ret_dir, LEFT_NAME);
	if (fd >= 0)
		return fd;
	fd_closep(ret_dir);
	*ret_name = QUESTION_FILE;
	*ret_dir = workspace_files(&at->ws);
	return *ret_dir < 0 ? -1 : open_regular_beneath(*ret_dir, QUESTION_FILE);
}

/* A file of that name that is part of the repository is no question. */
static bool is_tracked(struct task_at *at)
{
	const struct task *t = at->task;
	auto_str name = xasprintf("%s:" QUESTION_FILE, *t->published ? t->published : t->base);
	struct git git = repo_git(&at->repo);
	struct err ignored = ERR_INIT;

	return !git_do(&git, NULL, &ignored, "cat-file", "-e", name, NULL);
}

bool question_is_there(struct task_at *at)
{
	auto_fd dir = -1, fd = -1;
	const char *name;

	if (!faccessat(at->ws.dir, OPEN_NAME, F_OK, 0))
		return true;
	fd = open_left(at, &dir, &name);
	return fd >= 0 && (strcmp(name, QUESTION_FILE) != 0 || !is_tracked(at));
}

static char *cleaned(const char *text, size_t len)
{
	auto_buf out = BUF_INIT(QUESTION_MAX + 8);

	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	clean_text(&out, text, len < QUESTION_MAX ? len : QUESTION_MAX, false);
	return xstrdup(buf_str(&out));
}

static int read_options(const json_t *in, struct question *q, struct err *e)
{
	const json_t *list = json_object_get(in, "options"), *item;
	size_t i, total = 0;

	if (list && !json_is_null(list) && !json_is_array(list))
		return err_set(e, ERR_USAGE, "\"options\" is not a list");
	json_array_foreach(list, i, item)
	{
		const char *s = json_string_value(item);

		total += s ? strlen(s) : 0;
		if (!s || i >= OPTIONS_MAX || total > QUESTION_MAX)
			return err_set(e, ERR_USAGE, "\"options\" are at most %d strings", OPTIONS_MAX);
		auto_str text = cleaned(s, strlen(s));
		strvec_push(&q->options, text);
	}
	return 0;
}

static int from_json(const json_t *in, struct question *q, struct err *e)
{
	const char *text = json_string_value(json_object_get(in, "question"));

	if (!text || !*text)
		return err_set(e, ERR_USAGE, "there is no \"question\"");
	q->text = cleaned(text, strlen(text));
	return read_options(in, q, e);
}

/* What is not JSON, or has no question in it, is one. */
static void parse(const struct buf *text, struct question *q)
{
	json_t *in = json_loadb(buf_str(text), text->len, JSON_REJECT_DUPLICATES, NULL);
	struct err ignored = ERR_INIT;

	if (!json_is_object(in) || from_json(in, q, &ignored) < 0) {
		question_release(q);
		q->text = cleaned(buf_str(text), text->len);
	}
	json_decref(in);
}

static int save(int task_dir, const struct question *q, struct err *e)
{
	json_t *o = json_object(), *options = json_array();
	char *text;
	int rc;

	for (size_t i = 0; i < q->options.n; i++)
		json_array_append_new(options, json_string(q->options.v[i]));
	json_object_set_new(o, "question", json_string(q->text));
	json_object_set_new(o, "options", options);
	json_object_set_new(o, "asked", json_integer(time(NULL)));
	text = json_dumps(o, JSON_COMPACT);
	rc = text ? write_file(task_dir, OPEN_NAME, text, strlen(text), 0600, e)
		  : err_set(e, ERR_FAILED, "the question cannot be written down");
	free(text);
	json_decref(o);
	return rc;
}

int question_take(struct task_at *at, bool *ret, struct err *e)
{
	auto_buf text = BUF_INIT(FILE_BYTES);
	auto_question q = { 0 };
	struct err ignored = ERR_INIT;
	auto_fd dir = -1, fd = -1;
	const char *name;

	*ret = !faccessat(at->ws.dir, OPEN_NAME, F_OK, 0);
	fd = open_left(at, &dir, &name);
	if (fd < 0 || (!strcmp(name, QUESTION_FILE) && is_tracked(at)))
		return 0;
	*ret = true;
	/* of one that is too long, the beginning */
	read_rest(fd, &text, name, &ignored);
	parse(&text, &q);
	if (save(at->ws.dir, &q, e) < 0)
		return -1;
	unlinkat(dir, name, 0);
	return 0;
}

int question_put(int task_dir, const json_t *in, struct err *e)
{
	auto_question q = { 0 };

	return from_json(in, &q, e) < 0 ? -1 : save(task_dir, &q, e);
}

int question_load(int task_dir, struct question *ret, struct err *e)
{
	auto_buf text = BUF_INIT(FILE_BYTES);
	auto_question q = { 0 };
	json_t *in;

	if (read_file(task_dir, OPEN_NAME, &text, e) < 0)
		return -1;
	in = json_loadb(buf_str(&text), text.len, 0, NULL);
	if (!in || from_json(in, &q, e) < 0) {
		json_decref(in);
		return err_set(e, ERR_FAILED, "the task's question is not to be read");
	}
	q.asked = json_integer_value(json_object_get(in, "asked"));
	json_decref(in);
	*ret = q;
	q = (struct question){ 0 };
	return 0;
}

int question_close(int task_dir, struct err *e)
{
	return renameat(task_dir, OPEN_NAME, task_dir, OLD_NAME) < 0 && errno != ENOENT
		       ? err_sys(e, "cannot put the question away")
		       : 0;
}

void question_reopen(int task_dir)
{
	renameat2(task_dir, OLD_NAME, task_dir, OPEN_NAME, RENAME_NOREPLACE);
}
