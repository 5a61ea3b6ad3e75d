/* How a session begins: session/new, session/load and session/resume. */
#include "acp/parts.h"

#include <stdlib.h>
#include <string.h>

#include "acp/rewrite.h"
#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "task/directory.h"
#include "task/program.h"
#include "task/run.h"

void open_refuse(struct session *s, enum rpc_code code, const struct err *why)
{
	if (s->ask)
		acp_say(s->agent->acp, rpc_error_of(s->ask, code, why));
	if (s->close)
		acp_say(s->agent->acp, rpc_result(s->close, NULL));
	session_free(s->agent->acp, s);
}

static enum rpc_code code_of(const struct err *e)
{
	return e->kind == ERR_NOTFOUND                          ? RPC_NOT_FOUND
	       : e->kind == ERR_USAGE || e->kind == ERR_REFUSED ? RPC_BAD_PARAMS
								: RPC_INTERNAL;
}

static bool is_shown(const char *path, void *arg)
{
	auto_str real = canonicalize_file_name(path);

	return real && program_path_is_shown(arg, real);
}

/* Finds the agent that a session shares: the one in the named task, or in the task of the session that is loaded. */
static struct agent *find_agent(const struct acp *a, int64_t task)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->agents[i] && (a->o->task || (task && a->agents[i]->task == task)))
			return a->agents[i];
	return NULL;
}

/* Finds the session's task, and the id by which the agent knows the session. */
static int find_old(struct acp *a, const char *id, struct acp_session *ret, struct err *e)
{
	auto_task t = { 0 };

	if (context_store(&a->context, e) < 0 || store_acp_session(a->context.store, id, ret, e) < 0)
		return -1;
	if (strcmp(ret->agent, a->program) != 0)
		return err_set(
			e, ERR_REFUSED, "the session was with '%s', not with '%s'", ret->agent, a->program);
	if (store_task_by_id(a->context.store, ret->task, &t, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
		err_set(e, ERR_NOTFOUND, "the session's task was discarded, archived or merged away");
		return err_hint(e, "garth undo");
	}
	if (a->o->task && strcmp(t.name, path_base(a->o->task)) != 0)
		return err_set(
			e, ERR_REFUSED, "the session is in task '%s', not in '%s'", t.name, a->o->task);
	return 0;
}

/* A session without an agent; *ret_task is the task of one that is loaded. */
static struct session *make(
	struct acp *a, const struct rpc *m, enum session_open how, int64_t *ret_task, struct err *e)
{
	const char *cwd = rpc_text(m->params, "cwd"), *id = rpc_text(m->params, "sessionId");
	auto_acp_session old = { 0 };
	struct session *s;
	size_t i = 0;

	*ret_task = 0;
	while (i < SESSIONS_MAX && a->sessions[i])
		i++;
	if (!cwd || *cwd != '/')
		return err_set(e, ERR_USAGE, "cwd must be an absolute path"), NULL;
	if (i == SESSIONS_MAX)
		return err_set(e, ERR_REFUSED, "%d sessions are open already", SESSIONS_MAX), NULL;
	if (how == OPEN_OLD && find_old(a, id ? id : "", &old, e) < 0)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	task_session_id(s->id);
	if (how == OPEN_OLD) {
		memcpy(s->id, old.id, sizeof(s->id));
		s->theirs = steal_ptr(old.theirs);
		*ret_task = old.task;
	}
	s->how = how;
	s->method = xstrdup(m->method);
	s->cwd = directory_clean(cwd);
	s->ask = json_incref(m->id);
	s->with = json_deep_copy(m->params);
	a->sessions[i] = s;
	return s;
}

static int start(struct session *s, enum start_what what, int64_t task, struct err *e)
{
	struct acp *a = s->agent->acp;
	const struct start_spec spec = { .o = a->o, .what = what, .cwd = s->cwd, .task = task };

	context_close_store(&a->context);
	s->agent->task = task;
	s->starts = true;
	return starting_begin(&s->agent->child, &spec, e);
}

/* The session is already open here. The agent is asked nevertheless, because it may show the history again. */
static void open_again(struct session *s, const struct rpc *m)
{
	struct agent *g = s->agent;
	const struct rewrite r = { &g->paths, g->acp->o->mcp_secrets, is_shown, &g->acp->context, &g->notes };
	struct err e = ERR_INIT;

	if (s->ask || g->state != AGENT_READY)
		err_set(&e, ERR_BUSY, "the session is being opened or closed");
	else if (!rewrite_open(&r, g->cwd, m->params, &e)) {
		json_object_set_new(m->params, "sessionId", json_string(s->theirs));
		if (send_request(g, m->id, m->method, json_incref(m->params), PENDING_PASSED, s))
			return;
		err_set(&e, ERR_BUSY, "the agent has too many requests");
	}
	acp_say(g->acp, rpc_error_of(m->id, code_of(&e), &e));
}

void open_session(struct acp *a, const struct rpc *m, enum session_open how)
{
	const char *id = how == OPEN_OLD ? rpc_text(m->params, "sessionId") : NULL;
	struct session *s = id ? session_find(a, id) : NULL;
	struct err e = ERR_INIT;
	int64_t task;

	if (s) {
		open_again(s, m);
		return;
	}
	s = make(a, m, how, &task, &e);
	if (!s) {
		acp_say(a, rpc_error_of(m->id, code_of(&e), &e));
		return;
	}
	s->agent = find_agent(a, task);
	if (s->agent && s->agent->state > AGENT_READY) {
		err_set(&e, ERR_BUSY, "task '%s' is ending", s->agent->name);
		open_refuse(s, RPC_INTERNAL, &e);
	} else if (s->agent) {
		open_waiting(s->agent);
	} else if (!(s->agent = agent_new(a))) {
		err_set(&e, ERR_REFUSED, "%d agents run already", SESSIONS_MAX);
		acp_say(a, rpc_error_of(m->id, RPC_INTERNAL, &e));
		session_free(a, s);
	} else if (start(s, task ? START_AGAIN : START_NEW, task, &e) < 0) {
		struct agent *g = s->agent;

		open_refuse(s, RPC_INTERNAL, &e);
		agent_free(g);
	}
}

static char *said(const struct agent *g, const char *name)
{
	const char *value = starting_get(&g->child, name);

	return xstrdup(value ? value : "");
}

/* It has failed: none of its sessions can be opened. */
static void not_started(struct agent *g, const struct err *why)
{
	struct acp *a = g->acp;

	acp_tell(a, true, "%s", why->msg);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->sessions[i] && a->sessions[i]->agent == g)
			open_refuse(a->sessions[i], code_of(why), why);
	agent_free(g);
}

void open_started(struct agent *g)
{
	struct err e = ERR_INIT;

	if (!starting_read(&g->child))
		return;
	if (starting_failed(&g->child, &e) || g->child.conn < 0) {
		not_started(g, &e);
		return;
	}
	g->task = atoll(starting_get(&g->child, "task"));
	g->name = said(g, "name");
	g->branch = said(g, "branch");
	g->cwd = said(g, "cwd");
	g->paths = (struct paths){ said(g, "top"), said(g, "main_top"), said(g, "workspace") };
	g->made = starting_get(&g->child, "made") != NULL;
	starting_notes(&g->child, &g->notes);
	for (size_t i = 0; i < g->notes.n; i++)
		acp_tell(g->acp, g->acp->o->quiet, "%s", g->notes.v[i]);
	link_open(&g->link, fd_steal(&g->child.conn));
	starting_release(&g->child);
	if (!g->acp->o->quiet)
		acp_tell(g->acp, false, "task '%s' (branch %s)", g->name, g->branch);
	g->state = AGENT_BEGINNING;
	if (g->wanted || g->acp->leaving)
		agent_end(g);
	else
		handshake_begin(g);
}

/* If the workspace lacks the directory, the agent was started at its top. */
static char *directory_of(const struct session *s)
{
	return s->starts ? xstrdup(s->agent->cwd) : paths_inside(&s->agent->paths, s->cwd);
}

static void ask(struct session *s)
{
	struct agent *g = s->agent;
	const struct rewrite r = { &g->paths, g->acp->o->mcp_secrets, is_shown, &g->acp->context, &g->notes };
	size_t told = g->notes.n;
	auto_str cwd = directory_of(s);
	struct err e = ERR_INIT;
	int rc = cwd ? rewrite_open(&r, cwd, s->with, &e)
		     : err_set(&e, ERR_REFUSED, "'%s' is not in the project '%s'", s->cwd, g->paths.main_top);

	for (; told < g->notes.n; told++)
		acp_tell(g->acp, g->acp->o->quiet, "%s", g->notes.v[told]);
	if (s->theirs)
		json_object_set_new(s->with, "sessionId", json_string(s->theirs));
	s->passed = true;
	if (!rc && !send_request(g, s->ask, s->method, json_incref(s->with), PENDING_OPEN, s))
		rc = err_set(&e, ERR_BUSY, "the agent has too many requests");
	if (!rc)
		return;
	open_refuse(s, code_of(&e), &e);
	if (!agent_sessions(g))
		agent_end(g);
}

void open_waiting(struct agent *g)
{
	for (size_t i = 0; i < SESSIONS_MAX && g->state == AGENT_READY; i++) {
		struct session *s = g->acp->sessions[i];

		if (s && s->agent == g && s->ask && !s->passed)
			ask(s);
	}
}

/* The agent's own id of a new session. */
static int take_id(struct session *s, json_t *result, struct err *e)
{
	struct acp *a = s->agent->acp;
	const char *theirs = rpc_text(result, "sessionId");
	struct acp_session row = { .task = s->agent->task, .agent = a->program, .cwd = s->cwd };

	if (!theirs || !*theirs || strlen(theirs) > THEIRS_MAX)
		return err_set(e, ERR_FAILED, "the agent gave the session no id");
	if (session_of(s->agent, theirs))
		return err_set(e, ERR_FAILED, "the agent gave the session an id that another one has");
	s->theirs = xstrdup(theirs);
	row.theirs = s->theirs;
	memcpy(row.id, s->id, sizeof(row.id));
	if (context_store(&a->context, e) < 0 || store_acp_session_add(a->context.store, &row, e) < 0)
		return -1;
	return json_object_set_new(result, "sessionId", json_string(s->id));
}

/* The user can log the agent in only outside. */
static void hint_log_in(const struct rpc *m)
{
	const char *text = rpc_text(m->error, "message");

	if (json_integer_value(json_object_get(m->error, "code")) == RPC_LOG_IN)
		json_object_set_new(m->error, "message",
			json_sprintf(
				"%.400s (garth: log in with the agent's own command outside, then begin again)",
				text ? text : ""));
}

void open_answered(struct session *s, const struct rpc *m)
{
	struct agent *g = s->agent;
	struct acp *a = g->acp;
	struct err e = ERR_INIT;

	if (m->result &&
		(!json_is_object(m->result) || (s->how == OPEN_NEW && take_id(s, m->result, &e) < 0))) {
		if (e.kind == ERR_NONE)
			err_set(&e, ERR_FAILED, "the agent did not answer as the protocol says");
		open_refuse(s, RPC_INTERNAL, &e);
	} else {
		if (m->error)
			hint_log_in(m);
		/* some agents repeat it when they load one */
		if (rpc_text(m->result, "sessionId"))
			json_object_set_new(m->result, "sessionId", json_string(s->id));
		acp_say(a, rpc_answer_again(s->ask, m));
		json_decref(steal_ptr(s->ask));
		json_decref(steal_ptr(s->with));
		if (m->error) {
			open_refuse(s, RPC_INTERNAL, &e);
		} else {
			g->used |= s->how == OPEN_OLD;
			if (s->how == OPEN_OLD)
				list_note(s, NULL);
		}
	}
	if (!agent_sessions(g))
		agent_end(g);
}
