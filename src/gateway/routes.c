#include "gateway/routes.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base64.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "gateway/commit_staged.h"
#include "publish/from_branch.h"
#include "history/rollback.h"
#include "history/snapshot.h"
#include "inside/pause.h"
#include "inside/renamed.h"
#include "publish/publish.h"
#include "publish/submodules.h"
#include "gateway/routes_parts.h"
#include "history/sync.h"
#include "sys/fd.h"
#include "task/verdict.h"
#include "task/brief.h"
#include "task/life.h"
#include "task/question.h"
#include "task/tickets.h"

/* A longer path is cut in the audit log. */
#define REQUEST_MAX 300
/* A snapshot's message is in the store. */
#define MESSAGE_MAX 1000
/* What a snapshot leaves in the store and the log, of the budget for what an agent can do at will. */
#define SNAPSHOT_COST 4096

int request_bad(struct request *q, struct err *e, const char *what)
{
	refuse(&q->no, e, "bad_request", "", "%s", what);
	e->kind = ERR_USAGE;
	return -1;
}

/* A string member, NULL if it is absent; a member of another type is an error. */
static int take_string(struct request *q, const char *key, const char **ret, struct err *e)
{
	json_t *v = json_object_get(q->in, key);

	*ret = json_string_value(v);
	if (!v || json_is_null(v) || *ret)
		return 0;
	auto_str what = xasprintf("\"%s\" is not a string", key);
	return request_bad(q, e, what);
}

static json_t *list(const struct strvec *v)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(ret, audit_text(v->v[i]));
	return ret;
}

static json_t *show_policy(const struct config_policy *p)
{
	return json_pack("{s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:I}", "protected", list(&p->protect), "allow",
		list(&p->allow), "rewrite", p->rewrite, "identity", p->identity, "max_worktree_size",
		(json_int_t)p->max_size, "max_file_size", (json_int_t)p->max_file_size, "max_files",
		(json_int_t)p->max_files, "max_commits", (json_int_t)p->max_commits);
}

static int show_task(struct request *q, struct err *e)
{
	const struct task *t = &q->gateway->in.task;

	(void)e;
	/* the user's paths and branches may not be UTF-8 */
	q->out = json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:I, s:o}", "task", t->name, "branch",
		t->branch + strlen("refs/heads/"), "base", t->base, "target",
		audit_text(ref_short(t->target)), "tip", *t->published ? t->published : t->base, "state",
		t->state, "workspace", audit_text(t->workspace), "commits", (json_int_t)t->commits, "policy",
		show_policy(&q->gateway->in.context.config.policy));
	return 0;
}

static int show_brief(struct request *q, struct err *e)
{
	struct inside *in = &q->gateway->in;
	auto_buf text = BUF_INIT(64 << 10);

	if (brief_write(&in->context, &in->at, NULL, &text, e) < 0)
		return -1;
	q->out = json_pack("{s:o}", "brief", audit_text(buf_str(&text)));
	return 0;
}

static int git_commit(struct request *q, struct err *e)
{
	struct commit_request c = { 0 };
	struct publish_result r = { 0 };

	if (take_string(q, "repo", &c.repo, e) < 0 || take_string(q, "worktree", &c.worktree, e) < 0 ||
		take_string(q, "message", &c.message, e) < 0 || take_string(q, "author", &c.author, e) < 0 ||
		commit_staged(&q->gateway->pub, &c, &r, &q->no, e) < 0)
		return -1;
	q->out = json_pack(
		"{s:s, s:s}", "sha", r.tip, "branch", q->gateway->in.task.branch + strlen("refs/heads/"));
	return 0;
}

/* Decodes the base64 pack into a file; *ret stays as it is if there is none. */
static int take_pack(struct request *q, int *ret, struct err *e)
{
	const char *text;
	struct base64_decode_ctx ctx;
	auto_str raw = NULL;
	size_t len;

	if (take_string(q, "pack", &text, e) < 0)
		return -1;
	if (!text)
		return 0;
	len = BASE64_DECODE_LENGTH(strlen(text));
	raw = xcalloc(1, len + 1);
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &len, (uint8_t *)raw, strlen(text), text) ||
		!base64_decode_final(&ctx))
		return request_bad(q, e, "\"pack\" is not in base64");
	*ret = fd_of_bytes("pack", raw, len);
	return *ret < 0 ? err_sys(e, "cannot keep the pack") : 0;
}

/* The answer after a publish. Removes the mark that the last run's end left unpublished work; while the task
 * runs, only its own end changes that mark. */
static int published(struct request *q, const struct publish_result *r)
{
	struct gateway *g = q->gateway;

	/* others may have waited for a merge */
	tickets_tell(g->in.at.ws.dir);
	if (!life_is_running(&g->in.task))
		unlinkat(g->in.at.ws.dir, TASK_UNPUBLISHED, 0);
	q->out = json_pack("{s:s, s:s, s:s, s:I}", "tip", r->tip, "old", r->old, "branch",
		g->in.task.branch + strlen("refs/heads/"), "commits", (json_int_t)r->commits);
	return 0;
}

/* The number of a submodule chooses among those of this task. */
static int publish_in_submodule(
	struct request *q, const json_t *number, const char *tip, const char *by, int pack, struct err *e)
{
	struct publish_result r = { 0 };

	if (!json_is_integer(number) || json_integer_value(number) < 0)
		return request_bad(q, e, "\"submodule\" is not a number");
	if (publish_submodule(
		    &q->gateway->pub, (size_t)json_integer_value(number), tip, by, pack, &r, &q->no, e) < 0)
		return e->kind == ERR_USAGE ? request_bad(q, e, e->msg) : -1;
	return published(q, &r);
}

static int publish_for(struct request *q, const char *by, struct err *e)
{
	json_t *submodule = json_object_get(q->in, "submodule");
	struct publish_result r = { 0 };
	auto_fd pack = -1;
	const char *tip;
	char found[OID_SIZE];

	if (take_string(q, "tip", &tip, e) < 0 || take_pack(q, &pack, e) < 0)
		return -1;
	if (submodule)
		return publish_in_submodule(q, submodule, tip, by, pack, e);
	if (!tip) {
		if (publish_find_tip(&q->gateway->in, found, e) < 0)
			return -1;
		tip = found;
	}
	if (!*tip)
		return request_bad(q, e, "the task has no branch inside");
	if (publish_offered(&q->gateway->pub, tip, by, pack, &r, &q->no, e) < 0)
		return -1;
	return published(q, &r);
}

static int git_publish(struct request *q, struct err *e)
{
	return publish_for(q, json_object_get(q->in, "tip") ? "hook" : "asked", e);
}

static int ask_question(struct request *q, struct err *e)
{
	struct gateway *g = q->gateway;
	json_t *details;

	if (question_put(g->in.at.ws.dir, q->in, e) < 0)
		return e->kind == ERR_USAGE ? request_bad(q, e, e->msg) : -1;
	details = json_pack(
		"{s:o}", "question", audit_text(json_string_value(json_object_get(q->in, "question"))));
	if (audit_add(g->in.audit, "question", &g->in.task, details, e) < 0)
		return -1;
	q->out = json_pack("{s:s, s:s}", "state", "asked", "next",
		"end now: the task is blocked until the user answers, and is then resumed");
	return 0;
}

static int user_publish(struct request *q, struct err *e)
{
	struct publish_result r = { 0 };
	auto_str failed = NULL;
	json_t *commits;
	const char *from;

	if (take_string(q, "from", &from, e) < 0)
		return -1;
	if (publish_submodules(&q->gateway->pub, "user", &failed, &q->no, e) < 0)
		return err_wrap(e, "submodule '%s'", failed);
	if (from ? publish_from(&q->gateway->pub, from, &r, &q->no, e) < 0 || published(q, &r) < 0
		 : publish_for(q, "user", e) < 0)
		return -1;
	/* in other answers "commits" counts all that a task has published */
	commits = json_object_get(q->out, "commits");
	json_object_set(q->out, "new_commits", commits);
	json_object_del(q->out, "commits");
	json_object_set(q->out, "old_tip", json_object_get(q->out, "old"));
	json_object_del(q->out, "old");
	return 0;
}

/* The arguments as one line, for the audit. */
static int take_args(struct request *q, struct buf *line, struct err *e)
{
	json_t *args = json_object_get(q->in, "args"), *v;
	size_t i;

	if (!json_is_array(args) || json_array_size(args) > 1000)
		return request_bad(q, e, "\"args\" is not a list of strings");
	json_array_foreach(args, i, v)
	{
		if (!json_is_string(v))
			return request_bad(q, e, "\"args\" is not a list of strings");
		buf_printf(line, "%s%.200s", i ? " " : "", json_string_value(v));
	}
	return 0;
}

static int asked(struct request *q, const char *verb, struct err *e)
{
	auto_buf line = BUF_INIT(4000);
	json_t *details;

	if (take_args(q, &line, e) < 0)
		return -1;
	details = json_pack("{s:s}", "verb", verb);
	json_object_set_new(details, "args", audit_text(buf_str(&line)));
	if (audit_add(q->gateway->in.audit, "asked", &q->gateway->in.task, details, e) < 0)
		return -1;
	q->out = json_object();
	return 0;
}

static int git_reset(struct request *q, struct err *e)
{
	return asked(q, "reset", e);
}

static int git_checkout(struct request *q, struct err *e)
{
	return asked(q, "checkout", e);
}

static int git_merge(struct request *q, struct err *e)
{
	return asked(q, "merge", e);
}

/* The first 100 files that no snapshot can hold. */
static json_t *list_left(const struct review_left *left)
{
	auto_strvec lines = STRVEC_INIT;
	json_t *list = json_array();

	review_left_lines(left, &lines);
	for (size_t i = 0; i < lines.n && i < 100; i++)
		json_array_append_new(list, audit_text(lines.v[i]));
	return list;
}

static int user_snapshot(struct request *q, struct err *e)
{
	auto_review_left left = { 0 };
	const char *message;
	int64_t number;

	if (take_string(q, "message", &message, e) < 0)
		return -1;
	if (message && strlen(message) > MESSAGE_MAX)
		return request_bad(q, e, "\"message\" is longer than 1000 bytes");
	if (snapshot_take(&q->gateway->in, "asked", message ? message : "", &number, &left, e) < 0)
		return -1;
	q->out = json_pack("{s:I, s:o}", "snapshot", (json_int_t)number, "left_out", list_left(&left));
	return 0;
}

static int agent_snapshot(struct request *q, struct err *e)
{
	const struct inside *in = &q->gateway->in;
	bool may;

	if (audit_allows(in->audit, &in->task, SNAPSHOT_COST, &may, e) < 0)
		return -1;
	if (may)
		return user_snapshot(q, e);
	refuse(&q->no, e, "too_many_snapshots", "", "the task has taken too many snapshots");
	return refusal_say(&q->no, "take another snapshot", "wait for a minute");
}

/* A path that is not UTF-8 is sent as hex digits, because JSON strings are UTF-8. */
static int take_file(struct request *q, char **ret, struct err *e)
{
	const char *plain, *hex;
	unsigned byte;

	if (take_string(q, "file", &plain, e) < 0 || take_string(q, "file_hex", &hex, e) < 0)
		return -1;
	if (!hex) {
		*ret = plain ? xstrdup(plain) : NULL;
		return 0;
	}
	if (strlen(hex) % 2 || !hex_is(hex, strlen(hex)))
		return request_bad(q, e, "\"file_hex\" is not a list of hex digits");
	*ret = xstrndup(hex, strlen(hex) / 2);
	for (size_t i = 0; (*ret)[i]; i++)
		(*ret)[i] = sscanf(hex + 2 * i, "%2x", &byte) == 1 ? (char)byte : '\0';
	return 0;
}

static int user_rollback(struct request *q, struct err *e)
{
	struct rollback_spec s = { .full = json_is_true(json_object_get(q->in, "full")),
		.undo = json_is_true(json_object_get(q->in, "undo")),
		.force = json_is_true(json_object_get(q->in, "force")),
		.snapshot = json_integer_value(json_object_get(q->in, "snapshot")) };
	auto_review_left left = { 0 };
	auto_strvec stashed = STRVEC_INIT;
	auto_str file = NULL;
	int64_t before = 0;

	if (take_file(q, &file, e) < 0)
		return -1;
	s.file = file;
	if (rollback(&q->gateway->in, &s, &before, &left, &stashed, e) < 0)
		return -1;
	q->out = json_pack("{s:I, s:s, s:o, s:o}", "snapshot", (json_int_t)before, "tip",
		q->gateway->in.task.published, "left_out", s.force ? json_array() : list_left(&left),
		"stashed", list(&stashed));
	return 0;
}

static int user_renamed(struct request *q, struct err *e)
{
	if (inside_renamed(&q->gateway->in, e) < 0)
		return -1;
	q->out = json_object();
	return 0;
}

static int user_sync(struct request *q, struct err *e)
{
	auto_strvec conflicts = STRVEC_INIT;
	struct sync_result r = { 0 };
	json_t *paths;
	int rc = sync_task(
		&q->gateway->pub, json_is_true(json_object_get(q->in, "merge")), &r, &conflicts, &q->no, e);

	if (rc < 0)
		return -1;
	/* the conflict that it was paused for is solved */
	if (!conflicts.n && !strcmp(q->gateway->in.task.state, STATE_PAUSED) &&
		resume_task(&q->gateway->in, e) < 0)
		return -1;
	paths = json_array();
	for (size_t i = 0; i < conflicts.n; i++)
		json_array_append_new(paths, audit_text(conflicts.v[i]));
	q->out = json_pack(
		"{s:s, s:s, s:b, s:o}", "base", r.base, "tip", r.tip, "moved", r.moved, "conflicts", paths);
	return 0;
}

static int user_pause(struct request *q, struct err *e)
{
	q->out = json_object();
	return pause_for_user(&q->gateway->in, e);
}

static int user_resume(struct request *q, struct err *e)
{
	q->out = json_object();
	return resume_task(&q->gateway->in, e);
}

enum who { AGENT, USER, BOTH };

static const struct {
	const char *method, *path;
	enum who who;
	handler *fn;
} table[] = {
	{ "GET", "/api/v1/task", BOTH, show_task },
	{ "POST", "/api/v1/git/commit", AGENT, git_commit },
	{ "POST", "/api/v1/git/publish", AGENT, git_publish },
	{ "POST", "/api/v1/git/reset", AGENT, git_reset },
	{ "POST", "/api/v1/git/checkout", AGENT, git_checkout },
	{ "POST", "/api/v1/git/merge", AGENT, git_merge },
	{ "POST", "/api/v1/git/push", AGENT, route_push },
	{ "POST", "/api/v1/git/fetch", AGENT, route_fetch },
	{ "POST", "/api/v1/question", AGENT, ask_question },
	{ "POST", "/api/v1/note", AGENT, route_note },
	{ "POST", "/api/v1/stage/output", AGENT, route_output },
	{ "POST", "/api/v1/stage/complete", AGENT, route_complete },
	{ "GET", "/api/v1/brief", BOTH, show_brief },
	{ "POST", "/api/v1/snapshot", AGENT, agent_snapshot },
	{ "GET", "/api/v1/context", AGENT, route_context },
	{ "POST", "/user/v1/publish", USER, user_publish },
	{ "POST", "/user/v1/snapshot", USER, user_snapshot },
	{ "POST", "/user/v1/rollback", USER, user_rollback },
	{ "POST", "/user/v1/sync", USER, user_sync },
	{ "POST", "/user/v1/renamed", USER, user_renamed },
	{ "POST", "/user/v1/pause", USER, user_pause },
	{ "POST", "/user/v1/resume", USER, user_resume },
};

static void put(json_t *o, const char *key, const char *value)
{
	if (*value)
		json_object_set_new(o, key, audit_text(value));
}

/* Hints are commands for the user, so the agent gets none. */
static json_t *error_json(const struct refusal *no, const struct err *e, bool user)
{
	json_t *o = json_object();

	put(o, "code", *no->code ? no->code : err_code(e->kind));
	put(o, "message", *no->message ? no->message : e->msg);
	put(o, "path", no->path);
	put(o, "boundary", no->boundary);
	put(o, "tried", no->tried);
	put(o, "instead", no->instead);
	if (user)
		put(o, "hint", e->hint);
	return json_pack("{s:o}", "error", o);
}

static void record(struct gateway *g, const char *path, const struct refusal *no, const struct err *e)
{
	json_t *details = json_pack("{s:s}", "code", *no->code ? no->code : err_code(e->kind));
	auto_str request = xstrndup(path, REQUEST_MAX);
	struct err ignored = ERR_INIT;

	json_object_set_new(details, "request", audit_text(request));
	json_object_set_new(details, "message", audit_text(e->msg));
	audit_add(g->in.audit, "refused", &g->in.task, details, &ignored);
}

void route_malformed(struct gateway *g, int status)
{
	struct err e = ERR_INIT, ignored = ERR_INIT;
	struct refusal no = { 0 };

	refuse(&no, &e, "bad_request", "", "not a request that the gateway understands (%d)", status);
	if (!inside_refresh(&g->in, &ignored))
		record(g, "", &no, &e);
}

void route_refused(struct gateway *g, const char *path, const json_t *error)
{
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *message = json_string_value(json_object_get(error, "message"));
	struct err e = ERR_INIT, ignored = ERR_INIT;
	struct refusal no = { 0 };

	refuse(&no, &e, code ? code : "failed", path, "%s", message ? message : "");
	if (!inside_refresh(&g->in, &ignored))
		record(g, path, &no, &e);
}

static int find(
	struct request *q, bool user, const char *method, const char *path, handler **ret, struct err *e)
{
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (strcmp(table[i].path, path) || table[i].who == (user ? AGENT : USER))
			continue;
		known = true;
		if (!strcmp(table[i].method, method)) {
			*ret = table[i].fn;
			return 0;
		}
	}
	refuse(&q->no, e, known ? "bad_method" : "unknown_path", path,
		known ? "this path does not take that method" : "there is no such path");
	e->kind = known ? ERR_USAGE : ERR_NOTFOUND;
	return -1;
}

static int parse(struct request *q, const char *body, size_t len, struct err *e)
{
	json_error_t why;

	q->in = len ? json_loadb(body, len, JSON_REJECT_DUPLICATES, &why) : json_object();
	if (!q->in) {
		refuse(&q->no, e, "bad_request", "", "the body is not JSON: %s", why.text);
		e->kind = ERR_USAGE;
		return -1;
	}
	return json_is_object(q->in) ? 0 : request_bad(q, e, "the body is not a JSON object");
}

int route(struct gateway *g, const struct route_ask *a, json_t **ret)
{
	struct request q = { .gateway = g, .session = a->session };
	struct err e = ERR_INIT;
	handler *fn = NULL;
	int status = 200;

	if (inside_refresh(&g->in, &e) < 0 || find(&q, a->user, a->method, a->path, &fn, &e) < 0 ||
		parse(&q, a->body, a->len, &e) < 0 || fn(&q, &e) < 0) {
		status = !strcmp(q.no.code, "bad_method")     ? 405
			 : !strcmp(q.no.code, ROUTE_TOO_SOON) ? 429
							      : err_http_status(e.kind);
		if (!q.no.recorded)
			record(g, a->path, &q.no, &e);
		json_decref(q.out);
		q.out = error_json(&q.no, &e, a->user);
	}
	json_decref(q.in);
	*ret = q.out;
	return status;
}
