#include "plan/ticket_request.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/deadline.h"
#include "git/run.h"
#include "keeper/log.h"
#include "plan/make.h"
#include "plan/people.h"
#include "plan/stage_life.h"
#include "plan/start.h"
#include "plan/ticket_new.h"
#include "plan/ticket_runner.h"
#include "plan/ticket_task.h"
#include "plan/tickets.h"
#include "runtime/run.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/task.h"
#include "task/tickets.h"

#define DIFF_MAX     (1u << 20)
#define LOG_TAIL_MAX (64u << 10)
#define TEXT_MAX     (64u << 10)
#define ID_MAX       64
/* The most runs and retries of one ticket, together. A retry counts by itself, because it may not come to a run. */
#define ATTEMPTS_MAX 20

#define WAIT_SECONDS_MAX 50
#define WAIT_LOOK_MS     100

struct request {
	struct tickets t;
	json_t *in, *out;
	size_t at; /* the ticket that the path names */
	int status;
	struct strvec files; /* with a refusal */
	bool merge;
};

typedef int handler(struct request *q, struct err *e);

static json_t *list_all(struct request *q)
{
	json_t *list = json_array();

	for (size_t i = 0; i < q->t.all.n; i++)
		json_array_append_new(list, ticket_json(&q->t, i, false));
	return list;
}

static int answer_one(struct request *q, bool full)
{
	q->out = ticket_json(&q->t, q->at, full);
	return 0;
}

static int get_list(struct request *q, struct err *e)
{
	const struct config *c = &q->t.c->config;
	uint64_t had = q->t.all.n;

	(void)e;
	q->out = json_pack("{s:o, s:I, s:I, s:I}", "tickets", list_all(q), "max", (json_int_t)c->tickets_max,
		"at_once", (json_int_t)c->tickets_at_once, "left",
		(json_int_t)(c->tickets_max > had ? c->tickets_max - had : 0));
	return 0;
}

static int post_new(struct request *q, struct err *e)
{
	if (ticket_new(&q->t, q->in, &q->files, &q->at, e) < 0)
		return -1;
	q->status = 201;
	answer_one(q, false);
	return tickets_wake(q->t.c, q->t.task.id, true, e);
}

static int get_one(struct request *q, struct err *e)
{
	(void)e;
	return answer_one(q, true);
}

static struct stage_row *row_of(struct request *q)
{
	return &q->t.all.v[q->at];
}

static int find_child(struct request *q, struct task *ret, struct err *e)
{
	if (row_of(q)->task_id && !task_find_id(q->t.c, row_of(q)->task_id, ret, e))
		return 0;
	return err_set(e, ERR_NOTFOUND, "ticket '%s' has no task %s", row_of(q)->name,
		row_of(q)->task_id ? "any more" : "yet");
}

/* A file that fits the answer is smaller. git needs twenty times the size of the files that it compares. */
#define DIFF_FILE_MAX "core.bigFileThreshold=2m"

/* Bytes that are not UTF-8 are replaced by visible marks. */
static json_t *clean_json(const char *text, size_t len)
{
	auto_buf clean = BUF_INIT(8 * (size_t)DIFF_MAX);

	clean_text(&clean, text, len, false);
	return json_string(buf_str(&clean));
}

static int get_diff(struct request *q, struct err *e)
{
	struct git git = repo_git(&q->t.at.repo);
	auto_buf out = BUF_INIT(DIFF_MAX);
	auto_strvec settings = STRVEC_INIT;
	auto_str range = NULL;
	auto_task child = { 0 };
	struct err why = ERR_INIT;

	if (find_child(q, &child, e) < 0)
		return -1;
	strvec_push(&settings, DIFF_FILE_MAX);
	git.settings = &settings;
	range = xasprintf("%s...%s", child.base, *child.published ? child.published : child.base);
	/* a longer one is cut */
	if (git_do(&git, &out, &why, "diff", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv",
		    range, "--", NULL) < 0 &&
		!out.overflow)
		return *e = why, -1;
	q->out = json_pack("{s:o, s:b}", "diff", clean_json(buf_str(&out), out.len), "cut", out.overflow);
	return 0;
}

static int get_log(struct request *q, struct err *e)
{
	auto_task child = { 0 };
	auto_fd dir = -1, log = -1;
	char *text;
	struct stat st;
	ssize_t n = 0;

	if (find_child(q, &child, e) < 0 || home_task_dir(&q->t.c->home, child.id, &dir, e) < 0)
		return -1;
	text = xcalloc(1, LOG_TAIL_MAX + 1);
	log = openat(dir, LOG_NEW, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (log >= 0 && !fstat(log, &st))
		n = pread(log, text, LOG_TAIL_MAX, st.st_size > LOG_TAIL_MAX ? st.st_size - LOG_TAIL_MAX : 0);
	q->out = json_pack("{s:o}", "log", clean_json(text, n > 0 ? (size_t)n : 0));
	free(text);
	return 0;
}

static int is_named(const json_t *ids, const char *id)
{
	size_t i;
	json_t *v;

	if (!ids || !json_array_size(ids))
		return true;
	json_array_foreach(ids, i, v) if (!strcmp(json_string_value(v), id)) return true;
	return false;
}

static int check_ids(struct request *q, const json_t *ids, struct err *e)
{
	size_t i;
	json_t *v;

	if (ids && !json_is_array(ids))
		return err_set(e, ERR_USAGE, "\"ids\" must be a list of ids");
	json_array_foreach((json_t *)ids, i, v)
	{
		if (!json_is_string(v))
			return err_set(e, ERR_USAGE, "\"ids\" must be a list of ids");
		if (tickets_index(&q->t, json_string_value(v)) < 0)
			return err_set(
				e, ERR_NOTFOUND, "this task has no ticket '%.60s'", json_string_value(v));
	}
	return 0;
}

/* Whether one of the named tickets goes on. */
static int some_go_on(struct request *q, const json_t *ids, bool *ret, struct err *e)
{
	auto_plan p = { 0 };
	bool *each;

	*ret = false;
	if (!q->t.all.n)
		return 0;
	if (tickets_plan(q->t.c, &q->t.row, NULL, &p, e) < 0)
		return -1;
	each = xcalloc(q->t.all.n, sizeof(*each));
	tickets_go_on(&q->t.all, &p, each);
	for (size_t i = 0; i < q->t.all.n; i++)
		*ret |= each[i] && is_named(ids, q->t.all.v[i].name);
	free(each);
	return 0;
}

static int block(struct request *q, struct err *e)
{
	if (tickets_block(q->t.c, &q->t.task, &q->t.row, e) < 0)
		return -1;
	q->out = json_pack("{s:s, s:s}", "state", "waiting", "next",
		"end now: this task is resumed with the results when its tickets are over");
	return 0;
}

/* Reads the task's row again, too: it may have merged meanwhile. */
static int look_again(struct request *q, struct err *e)
{
	auto_task now = { 0 };

	if (context_store(q->t.c, e) < 0 || store_task_by_id(q->t.c->store, q->t.task.id, &now, e) < 0)
		return -1;
	free(q->t.task.published);
	q->t.task.published = steal_ptr(now.published);
	return tickets_load(&q->t, e);
}

static int post_wait(struct request *q, struct err *e)
{
	const json_t *ids = json_object_get(q->in, "ids"), *asked = json_object_get(q->in, "seconds");
	json_int_t seconds = asked ? json_integer_value(asked) : WAIT_SECONDS_MAX;
	struct deadline d =
		deadline_in((seconds < 0 || seconds > WAIT_SECONDS_MAX ? WAIT_SECONDS_MAX : seconds) * 1000);
	bool goes = false;

	if (check_ids(q, ids, e) < 0 || tickets_wake(q->t.c, q->t.task.id, true, e) < 0 ||
		some_go_on(q, ids, &goes, e) < 0)
		return -1;
	if (goes && json_is_true(json_object_get(q->in, "block")))
		return block(q, e);
	while (goes && deadline_sleep(&d, WAIT_LOOK_MS))
		if (look_again(q, e) < 0 || some_go_on(q, ids, &goes, e) < 0)
			return -1;
	q->out = json_pack("{s:o, s:b}", "tickets", list_all(q), "over", !goes);
	return 0;
}

static int take_text(struct request *q, const char *key, const char **ret, struct err *e)
{
	json_t *v = json_object_get(q->in, key);

	*ret = json_string_value(v);
	if (v && (!*ret || !**ret || strlen(*ret) > TEXT_MAX))
		return err_set(e, ERR_USAGE, "\"%s\" must be a text of at most 64 KiB", key);
	return 0;
}

static int check_attempts(struct request *q, struct err *e)
{
	return row_of(q)->attempt < ATTEMPTS_MAX
		       ? 0
		       : err_set(e, ERR_REFUSED, "ticket '%s' has been tried too often", row_of(q)->name);
}

/* What is left of the time of a ticket that has a task. */
static int find_time(struct request *q, const struct task *child, uint64_t *ret, struct err *e)
{
	json_t *asked = json_loads(q->t.asked.v[q->at], 0, NULL);
	uint64_t whole = (uint64_t)json_integer_value(json_object_get(asked, "timeout"));

	json_decref(asked);
	*ret = 0;
	return whole ? ticket_task_time(q->t.c, child, whole, ret, e) : 0;
}

/* After a change: puts the ticket into the answer, and lets the runner go on. */
static int changed(struct request *q, struct err *e)
{
	if (look_again(q, e) < 0)
		return -1;
	answer_one(q, false);
	return tickets_wake(q->t.c, q->t.task.id, true, e);
}

/* A client that waits must not see the question again, so the state is changed here. The runner may have done that already. */
static int note_answered(struct request *q, struct err *e)
{
	if (context_store(q->t.c, e) < 0)
		return -1;
	if (!stage_is(row_of(q), STAGE_ASKING) ||
		!stage_move(q->t.c->store, row_of(q), STAGE_RUNNING, e, "%s", ""))
		return 0;
	return e->kind == ERR_BUSY ? (*e = (struct err)ERR_INIT, 0) : -1;
}

static int post_answer(struct request *q, struct err *e)
{
	struct run_opts o = { .quiet = true };
	auto_task child = { 0 };
	auto_fd conn = -1;
	const char *text;
	int rc;

	if (take_text(q, "text", &text, e) < 0 || find_child(q, &child, e) < 0)
		return -1;
	if (!text)
		return err_set(e, ERR_USAGE, "an answer needs a \"text\"");
	if (strcmp(child.state, STATE_BLOCKED) != 0)
		return stage_is(row_of(q), STAGE_ASKING)
			       ? err_set(e, ERR_REFUSED, "only the user can allow what ticket '%s' asks for",
					 row_of(q)->name)
			       : err_set(e, ERR_CONFLICT, "ticket '%s' asks nothing, it is %s",
					 row_of(q)->name, ticket_state(row_of(q)));
	if (check_attempts(q, e) < 0 || find_time(q, &child, &o.timeout, e) < 0)
		return -1;
	/* each answer is a run */
	row_of(q)->attempt++;
	if (context_store(q->t.c, e) < 0 || store_stage_write(q->t.c->store, row_of(q), e) < 0)
		return -1;
	rc = runtime_resume(q->t.c, &child, &o, text, &conn, e);
	network_release(&o.net);
	free((void *)o.ports);
	return rc < 0 || start_let_go(conn, e) < 0 || note_answered(q, e) < 0 ? -1 : changed(q, e);
}

/* What the user cancelled, only the user lets go on. */
static int check_withdrawn(struct request *q, struct err *e)
{
	bool withdrawn = false;

	if (!stage_is(row_of(q), STAGE_CANCELLED))
		return 0;
	if (context_store(q->t.c, e) < 0 ||
		store_ticket_withdrawn(q->t.c->store, row_of(q)->id, &withdrawn, e) < 0)
		return -1;
	return withdrawn ? err_set(e, ERR_REFUSED, "the user cancelled ticket '%s'", row_of(q)->name) : 0;
}

static bool can_be_tried_again(const struct stage_row *s)
{
	return stage_is(s, STAGE_ASKING) || stage_is(s, STAGE_FAILED) || stage_is(s, STAGE_CANCELLED);
}

/* A ticket with a question needs an answer, not another try. One that wants a path can try again: the user may have allowed
 * it by now. */
static int check_retry(struct request *q, struct err *e)
{
	auto_task child = { 0 };
	bool asks = false;
	uint64_t left;

	if (find_child(q, &child, e) < 0) {
		if (stage_is(row_of(q), STAGE_ASKING) || e->kind != ERR_NOTFOUND)
			return -1;
		*e = (struct err)ERR_INIT;
	} else {
		asks = stage_is(row_of(q), STAGE_ASKING) && !strcmp(child.state, STATE_BLOCKED);
		if (!asks && find_time(q, &child, &left, e) < 0)
			return -1;
	}
	if (asks || !can_be_tried_again(row_of(q)))
		return err_set(e, ERR_CONFLICT, "ticket '%s' is %s: there is nothing to try again",
			row_of(q)->name, ticket_state(row_of(q)));
	return 0;
}

static int post_retry(struct request *q, struct err *e)
{
	const char *prompt;

	if (take_text(q, "prompt", &prompt, e) < 0 || check_withdrawn(q, e) < 0 || check_attempts(q, e) < 0 ||
		check_retry(q, e) < 0)
		return -1;
	row_of(q)->attempt++;
	return people_retry(q->t.c, row_of(q), prompt, false, e) < 0 ? -1 : changed(q, e);
}

/* A ticket that was discarded stays discarded: an agent could go to and fro between the two for ever, and each time is a line
 * in the audit log. */
static int post_cancel(struct request *q, struct err *e)
{
	if (stage_is(row_of(q), STAGE_DONE))
		return err_set(e, ERR_CONFLICT, "ticket '%s' is merged", row_of(q)->name);
	if (stage_is(row_of(q), STAGE_SKIPPED))
		return err_set(e, ERR_CONFLICT, "ticket '%s' is discarded", row_of(q)->name);
	return people_cancel(q->t.c, row_of(q), e) < 0 ? -1 : changed(q, e);
}

/* Moves its task to the trash, where the user can find it. */
static int post_discard(struct request *q, struct err *e)
{
	const struct discard_opts o = {
		.files = true, .drafts = true, .reason = "its task discarded the ticket"
	};
	auto_task child = { 0 };
	auto_str trash = NULL;

	if (stage_is(row_of(q), STAGE_DONE))
		return err_set(e, ERR_CONFLICT, "ticket '%s' is merged", row_of(q)->name);
	if (!stage_is(row_of(q), STAGE_SKIPPED) && people_skip(q->t.c, row_of(q), false, e) < 0)
		return -1;
	if (find_child(q, &child, e) < 0)
		*e = (struct err)ERR_INIT;
	else if (task_discard(q->t.c, &child, &o, &trash, e) < 0)
		return -1;
	return changed(q, e);
}

static int post_merge(struct request *q, struct err *e)
{
	const struct stage_row *s = row_of(q);

	if (!stage_is(s, STAGE_QUEUED) && !stage_is(s, STAGE_DONE))
		return err_set(e, ERR_CONFLICT, "ticket '%s' is %s, and has no result that could be merged",
			s->name, ticket_state(s));
	q->merge = stage_is(s, STAGE_QUEUED);
	return answer_one(q, false);
}

/* ID stands for a ticket's id. */
static const struct {
	const char *method, *path;
	handler *fn;
} table[] = {
	{ "GET", "", get_list },
	{ "POST", "", post_new },
	{ "POST", "/wait", post_wait },
	{ "GET", "/ID", get_one },
	{ "GET", "/ID/diff", get_diff },
	{ "GET", "/ID/log", get_log },
	{ "POST", "/ID/answer", post_answer },
	{ "POST", "/ID/retry", post_retry },
	{ "POST", "/ID/cancel", post_cancel },
	{ "POST", "/ID/discard", post_discard },
	{ "POST", "/ID/merge", post_merge },
};

/* Whether the path matches this row; *ret_id is on the heap. */
static bool path_is(const char *path, const char *row, char **ret_id)
{
	size_t n;

	if (strncmp(row, "/ID", 3) != 0)
		return !strcmp(path, row);
	if (*path != '/' || (n = strcspn(path + 1, "/")) == 0 || n > ID_MAX ||
		strcmp(path + 1 + n, row + 3) != 0)
		return false;
	*ret_id = xstrndup(path + 1, n);
	return true;
}

static int find_ticket(struct request *q, const char *id, struct err *e)
{
	long at = tickets_index(&q->t, id);

	if (at < 0)
		return err_set(e, ERR_NOTFOUND, "this task has no ticket of this name");
	q->at = (size_t)at;
	return 0;
}

static int dispatch(struct request *q, const struct ticket_ask *a, struct err *e)
{
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		auto_str id = NULL;

		if (!path_is(a->path, table[i].path, &id))
			continue;
		known = true;
		if (strcmp(table[i].method, a->method) != 0)
			continue;
		return id && find_ticket(q, id, e) < 0 ? -1 : table[i].fn(q, e);
	}
	q->status = known ? 405 : 0;
	return err_set(e, known ? ERR_USAGE : ERR_NOTFOUND,
		known ? "this path does not take that method" : "there is no such path");
}

/* Without tickets the list is empty. If the user has taken the right to tickets away, those that run can still be managed. */
static int check_allowed(const struct request *q, struct err *e)
{
	if (q->t.c->config.tickets_max || q->t.row.id)
		return 0;
	return err_set(e, ERR_REFUSED, "this task may have no tickets: the user starts it with --tickets N");
}

static int parse(struct request *q, const struct ticket_ask *a, struct err *e)
{
	json_error_t why;

	q->in = a->len ? json_loadb(a->body, a->len, JSON_REJECT_DUPLICATES, &why) : json_object();
	if (!q->in)
		return err_set(e, ERR_USAGE, "the body is not JSON: %s", why.text);
	return json_is_object(q->in) ? 0 : err_set(e, ERR_USAGE, "the body is not a JSON object");
}

/* Adds results that the task does not see yet; merged ones it has already. Not done for a new ticket, which need not wait
 * for that. */
static json_t *refs_to_show(struct request *q)
{
	json_t *list = json_array();

	for (size_t i = 0; i < q->t.all.n; i++) {
		const struct stage_row *s = &q->t.all.v[i];
		auto_str ref = xasprintf("refs/heads/garth/%s", s->task), shown = NULL;
		struct err ignored = ERR_INIT;

		if (q->status == 201 || !stage_is(s, STAGE_QUEUED) || !*s->tip ||
			context_store(q->t.c, &ignored) < 0 ||
			store_ticket_shown(q->t.c->store, s->id, &shown, &ignored) < 0 ||
			!strcmp(shown, s->tip))
			continue;
		json_array_append_new(list,
			json_pack("{s:I, s:s, s:s}", "ticket", (json_int_t)s->id, "ref", ref, "tip", s->tip));
	}
	return list;
}

static json_t *error_of(const struct request *q, const struct err *e)
{
	json_t *o = json_pack("{s:s, s:s}", "code", err_code(e->kind), "message", e->msg), *files;

	if (!q->files.n)
		return json_pack("{s:o}", "error", o);
	files = json_array();
	for (size_t i = 0; i < q->files.n && i < 100; i++)
		json_array_append_new(files, clean_json(q->files.v[i], strlen(q->files.v[i])));
	json_object_set_new(o, "files", files);
	return json_pack("{s:o}", "error", o);
}

static json_t *envelope(struct request *q, int rc, const struct err *e)
{
	json_t *ret;

	if (rc < 0) {
		json_decref(q->out);
		return json_pack("{s:i, s:o}", "status",
			q->status > 299 ? q->status : err_http_status(e->kind), "answer", error_of(q, e));
	}
	ret = json_pack("{s:i, s:o, s:o}", "status", q->status ? q->status : 200, "answer", q->out, "show",
		refs_to_show(q));
	if (q->merge) {
		auto_str ref = xasprintf("refs/heads/garth/%s", row_of(q)->task);

		json_object_set_new(ret, "merge", json_pack("{s:s, s:s}", "ref", ref, "tip", row_of(q)->tip));
	}
	return ret;
}

json_t *ticket_request(struct context *c, const struct ticket_ask *a)
{
	struct request q = { .t = TICKETS_INIT };
	struct err e = ERR_INIT;
	json_t *ret;
	int rc = tickets_find(c, a->task, &q.t, &e) < 0 || check_allowed(&q, &e) < 0 || parse(&q, a, &e) < 0
			 ? -1
			 : dispatch(&q, a, &e);

	ret = envelope(&q, rc, &e);
	json_decref(q.in);
	strvec_release(&q.files);
	tickets_release(&q.t);
	return ret;
}
