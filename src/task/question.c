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
#define LAST_NAME   "question.json" /* the last question, as the agent left it */
#define LEFT_NAME   "garth-question.json"
#define FILE_BYTES  (64u << 10)
#define OPTIONS_MAX 20

void question_release(struct question *q)
{
	free(steal_ptr(q->text));
	strvec_release(&q->options);
}

static bool commit_has_it(struct task_at *at, const char *commit)
{
	auto_str name = xasprintf("%s:" QUESTION_FILE, commit);
	struct git git = repo_git(&at->repo);
	struct err ignored = ERR_INIT;

	return *commit && !git_do(&git, NULL, &ignored, "cat-file", "-e", name, NULL);
}

/* A question.json that is in the base or in the target is the repository's own file, not a question. */
static bool is_older(struct task_at *at)
{
	const struct task *t = at->task;

	return backend_of(t)->has_git && (commit_has_it(at, t->base) || commit_has_it(at, t->target));
}

static bool is_committed(struct task_at *at)
{
	return backend_of(at->task)->has_git && commit_has_it(at, at->task->published);
}

static char *cleaned(const char *text, size_t len)
{
	auto_buf out = BUF_INIT(QUESTION_MAX + 8);

	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	while (len && strchr(" \t\r\n", *text))
		text++, len--;
	clean_text(&out, text, len < QUESTION_MAX ? len : QUESTION_MAX, false);
	return xstrdup(out.len ? out.data : "(nothing is said)");
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

/* Text that is not JSON, or has no "question", is the question itself. */
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
	json_object_set_new(o, "for_tickets", json_boolean(q->for_tickets));
	text = json_dumps(o, JSON_COMPACT);
	rc = text ? write_file(task_dir, OPEN_NAME, text, strlen(text), 0600, e)
		  : err_set(e, ERR_FAILED, "the question cannot be written down");
	free(text);
	json_decref(o);
	return rc;
}

/* A question file that the agent left. */
struct left {
	int dir, fd;
	const char *name;
	struct buf text; /* cut off if it is too long */
};

static void left_release(struct left *l)
{
	fd_closep(&l->dir);
	fd_closep(&l->fd);
	buf_release(&l->text);
}
#define auto_left __attribute__((cleanup(left_release))) struct left

static bool read_left(struct left *l)
{
	struct err ignored = ERR_INIT;

	l->fd = l->dir < 0 ? -1 : open_regular_beneath(l->dir, l->name);
	if (l->fd < 0)
		return false;
	read_rest(l->fd, &l->text, l->name, &ignored);
	return true;
}

bool question_is_one(const char *text, size_t len)
{
	json_t *in = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	bool ret = json_is_string(json_object_get(in, "question"));

	json_decref(in);
	return ret;
}

/* A committed question.json stays in the workspace, but asks only once. */
static bool was_asked(struct task_at *at, const struct buf *text)
{
	auto_buf last = BUF_INIT(FILE_BYTES);
	struct err ignored = ERR_INIT;

	return !read_file(at->ws.dir, LAST_NAME, &last, &ignored) && last.len == text->len &&
	       !memcmp(buf_str(&last), buf_str(text), last.len) && is_committed(at);
}

/* Finds $GARTH_QUESTION_FILE, with any content, or a question.json in the workspace that is clearly a
 * question. */
static bool find_left(struct task_at *at, struct left *l)
{
	*l = (struct left){ .fd = -1, .name = LEFT_NAME, .text = BUF_INIT(FILE_BYTES) };
	l->dir = open_beneath(at->ws.dir, "tmp", O_RDONLY | O_DIRECTORY, 0);
	if (read_left(l))
		return true;
	left_release(l);
	*l = (struct left){ .fd = -1, .name = QUESTION_FILE, .text = BUF_INIT(FILE_BYTES) };
	l->dir = workspace_files(&at->ws);
	return read_left(l) && question_is_one(buf_str(&l->text), l->text.len) && !is_older(at) &&
	       !was_asked(at, &l->text);
}

bool question_is_committed(struct task_at *at)
{
	return is_committed(at) && !is_older(at);
}

bool question_is_there(struct task_at *at)
{
	auto_left l = { .dir = -1, .fd = -1 };

	return !faccessat(at->ws.dir, OPEN_NAME, F_OK, 0) || find_left(at, &l);
}

/* Returns 1 if there was one. Also keeps the text as it was left. */
static int take_one(struct task_at *at, struct err *e)
{
	auto_left l = { .dir = -1, .fd = -1 };
	auto_question q = { 0 };

	if (!find_left(at, &l))
		return 0;
	parse(&l.text, &q);
	if (save(at->ws.dir, &q, e) < 0 ||
		write_file(at->ws.dir, LAST_NAME, buf_str(&l.text), l.text.len, 0600, e) < 0)
		return -1;
	if (strcmp(l.name, QUESTION_FILE) || !is_committed(at))
		unlinkat(l.dir, l.name, 0);
	return 1;
}

int question_take(struct task_at *at, bool *ret, struct err *e)
{
	int rc = 1;

	*ret = !faccessat(at->ws.dir, OPEN_NAME, F_OK, 0);
	for (int i = 0; rc > 0 && i < 2; i++) {
		rc = take_one(at, e);
		*ret |= rc > 0;
	}
	return rc < 0 ? -1 : 0;
}

int question_put(int task_dir, const json_t *in, struct err *e)
{
	auto_question q = { 0 };

	return from_json(in, &q, e) < 0 ? -1 : save(task_dir, &q, e);
}

int question_put_wait(int task_dir, const char *text, struct err *e)
{
	auto_question q = { .text = xstrdup(text), .for_tickets = true };

	return save(task_dir, &q, e);
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
		return err_set(e, ERR_FAILED, "the task's question cannot be read");
	}
	q.asked = json_integer_value(json_object_get(in, "asked"));
	q.for_tickets = json_is_true(json_object_get(in, "for_tickets"));
	json_decref(in);
	*ret = q;
	q = (struct question){ 0 };
	return 0;
}

int question_close(int task_dir, bool *ret, struct err *e)
{
	*ret = !renameat(task_dir, OPEN_NAME, task_dir, OLD_NAME);
	return !*ret && errno != ENOENT ? err_sys(e, "cannot put the question away") : 0;
}

void question_reopen(int task_dir)
{
	renameat2(task_dir, OLD_NAME, task_dir, OPEN_NAME, RENAME_NOREPLACE);
}
