#include "cli/json.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/answer.h"
#include "base/buf.h"
#include "cli/say.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/lookup.h"
#include "task/task.h"
#include "task/verdict.h"
#include "workspace/workspace.h"

static int real_stdout = -1;

json_t *json_text(const char *s)
{
	json_t *j = json_string(s);
	auto_buf b = BUF_INIT(16 << 20);

	if (j)
		return j;
	for (; *s; s++) {
		if ((unsigned char)*s < 0x80)
			buf_addch(&b, *s);
		else
			buf_addstr(&b, "\xef\xbf\xbd");
	}
	return json_string(buf_str(&b));
}

/* RFC 3339, UTC. */
json_t *json_time(int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[32];

	if (!seconds)
		return json_null();
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

/* Where it was pushed last; null if it was not. */
static json_t *json_pushed(const struct task *t)
{
	if (!t->pushed_tip || !*t->pushed_tip)
		return json_null();
	return json_pack("{s:o, s:o, s:s}", "remote", json_text(t->pushed_remote), "branch",
		json_text(t->pushed_branch), "tip", t->pushed_tip);
}

json_t *json_branch(const char *ref)
{
	return ref && *ref ? json_text(ref_short(ref)) : json_null();
}

/* The arguments of its last run. For runs of older versions the store has only one line. */
static json_t *command(const struct task *t)
{
	json_t *words = t->argv && *t->argv ? json_loads(t->argv, 0, NULL) : NULL;

	if (json_is_array(words))
		return words;
	json_decref(words);
	return t->command && *t->command ? json_pack("[o]", json_text(t->command)) : json_null();
}

json_t *json_task(const struct task *t)
{
	json_t *o = json_object();
	auto_str address = lookup_address(t);
	auto_buf note = BUF_SMALL;

	task_say(t, &note);
	json_object_set_new(o, "id", json_integer(t->id));
	json_object_set_new(o, "name", json_text(t->name));
	json_object_set_new(o, "project", json_text(t->project));
	json_object_set_new(o, "address", json_text(address));
	json_object_set_new(
		o, "repository", !backend_of(t)->has_git ? json_null() : json_text(t->repository));
	json_object_set_new(o, "state", json_text(t->state));
	json_object_set_new(o, "branch", !backend_of(t)->has_git ? json_null() : json_branch(t->branch));
	json_object_set_new(o, "base", json_text(t->base));
	json_object_set_new(o, "target", json_branch(t->target));
	json_object_set_new(
		o, "published", t->published && *t->published ? json_text(t->published) : json_null());
	json_object_set_new(o, "commits", json_integer(t->commits));
	json_object_set_new(o, "pushed", json_pushed(t));
	json_object_set_new(o, "note", note.len ? json_text(note.data) : json_null());
	json_object_set_new(o, "on_dirty", t->on_dirty ? json_text(t->on_dirty) : json_null());
	json_object_set_new(o, "backend", json_text(t->backend));
	json_object_set_new(o, "workspace", json_text(t->workspace));
	json_object_set_new(o, "strict", json_boolean(t->strict));
	json_object_set_new(o, "created", json_time(t->created));
	json_object_set_new(o, "removed", json_time(t->removed));
	json_object_set_new(o, "command", command(t));
	json_object_set_new(o, "session", t->session && *t->session ? json_text(t->session) : json_null());
	json_object_set_new(o, "started", json_time(t->started));
	json_object_set_new(o, "ended", json_time(t->ended));
	json_object_set_new(o, "exit_code", t->ended ? json_integer(t->exit_code) : json_null());
	return o;
}

json_t *json_list(const struct strvec *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(a, json_text(v->v[i]));
	return a;
}

json_t *json_files(const struct strvec *lines)
{
	json_t *a = json_array();

	for (size_t i = 0; i < lines->n; i++)
		json_array_append_new(a, json_pack("{s:s%, s:o}", "status", lines->v[i], (size_t)1, "path",
						 json_text(lines->v[i] + 2)));
	return a;
}

json_t *json_conflicts(const struct strvec *paths)
{
	json_t *a = json_array();

	for (size_t i = 0; i < paths->n; i++)
		json_array_append_new(a, json_pack("{s:n, s:o}", "task", "path", json_text(paths->v[i])));
	return a;
}

json_t *json_error(const struct err *e)
{
	return json_pack("{s:{s:s, s:o, s:o}}", "error", "code", err_code(e->kind), "message",
		json_text(e->msg), "hint", *e->hint ? json_text(e->hint) : json_null());
}

void json_reserve_stdout(void)
{
	fflush(stdout);
	real_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (real_stdout >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
}

int json_print(json_t *o)
{
	auto_fd real = fd_steal(&real_stdout);

	if (real >= 0) {
		fflush(stdout);
		dup2(real, STDOUT_FILENO);
	}
	json_object_set_new(o, "version", json_integer(ANSWER_VERSION));
	/* on a terminal everything is ASCII, so that no control character gets through */
	json_dumpf(o, stdout, JSON_INDENT(2) | (isatty(1) ? JSON_ENSURE_ASCII : 0));
	putchar('\n');
	json_decref(o);
	return 0;
}

int json_task_now(struct context *c, int64_t id)
{
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	return task_find_id(c, id, &t, &e) < 0 ? say_error(&e) : json_print(json_task(&t));
}
