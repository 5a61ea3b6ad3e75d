#include "gateway/routes.h"

#include <string.h>

#include "base/alloc.h"
#include "gateway/routes_parts.h"
#include "git/ref.h"
#include "task/brief.h"

/* A longer path is cut in the audit log. */
#define REQUEST_MAX 300

int request_bad(struct request *q, struct err *e, const char *what)
{
	refuse(&q->no, e, "bad_request", "", "%s", what);
	e->kind = ERR_USAGE;
	return -1;
}

int request_text(struct request *q, const char *key, const char **ret, struct err *e)
{
	json_t *v = json_object_get(q->in, key);

	*ret = json_string_value(v);
	if (!v || json_is_null(v) || *ret)
		return 0;
	auto_str what = xasprintf("\"%s\" is not a string", key);
	return request_bad(q, e, what);
}

json_t *request_list(const struct strvec *v)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(ret, audit_text(v->v[i]));
	return ret;
}

static json_t *show_policy(const struct config_policy *p)
{
	return json_pack("{s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:I}", "protected", request_list(&p->protect),
		"allow", request_list(&p->allow), "rewrite", p->rewrite, "identity", p->identity,
		"max_worktree_size", (json_int_t)p->max_size, "max_file_size", (json_int_t)p->max_file_size,
		"max_files", (json_int_t)p->max_files, "max_commits", (json_int_t)p->max_commits);
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

enum who { AGENT, USER, BOTH };

static const struct {
	const char *method, *path;
	enum who who;
	handler *fn;
} table[] = {
	{ "GET", "/api/v1/task", BOTH, show_task },
	{ "POST", "/api/v1/git/commit", AGENT, route_commit },
	{ "POST", "/api/v1/git/publish", AGENT, route_publish },
	{ "POST", "/api/v1/git/reset", AGENT, route_reset },
	{ "POST", "/api/v1/git/checkout", AGENT, route_checkout },
	{ "POST", "/api/v1/git/merge", AGENT, route_merge },
	{ "POST", "/api/v1/git/push", AGENT, route_push },
	{ "POST", "/api/v1/git/fetch", AGENT, route_fetch },
	{ "POST", "/api/v1/question", AGENT, route_question },
	{ "POST", "/api/v1/note", AGENT, route_note },
	{ "POST", "/api/v1/stage/output", AGENT, route_output },
	{ "POST", "/api/v1/stage/complete", AGENT, route_complete },
	{ "GET", "/api/v1/brief", BOTH, show_brief },
	{ "POST", "/api/v1/snapshot", AGENT, route_agent_snapshot },
	{ "GET", "/api/v1/context", AGENT, route_context },
	{ "POST", "/user/v1/publish", USER, route_user_publish },
	{ "POST", "/user/v1/snapshot", USER, route_user_snapshot },
	{ "POST", "/user/v1/rollback", USER, route_user_rollback },
	{ "POST", "/user/v1/sync", USER, route_user_sync },
	{ "POST", "/user/v1/renamed", USER, route_user_renamed },
	{ "POST", "/user/v1/pause", USER, route_user_pause },
	{ "POST", "/user/v1/resume", USER, route_user_resume },
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
