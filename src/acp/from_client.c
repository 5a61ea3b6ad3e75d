/* Messages of the editor. It is the user's program, so most are passed on, to the agent of the session that the message
 * names. */
#include "acp/parts.h"

#include <string.h>

#include "acp/rewrite.h"
#include "base/alloc.h"

static struct rewrite rewriting(struct agent *g)
{
	return (struct rewrite){
		.paths = &g->paths, .mcp_secrets = g->acp->o->mcp_secrets, .notes = &g->notes
	};
}

/* Sent before the first prompt: where the work is, and what was left out. */
static void greet(struct session *s)
{
	struct agent *g = s->agent;
	auto_buf text = BUF_SMALL;
	auto_str title = xasprintf("task '%s', branch %s", g->name, g->branch);

	if (s->greeted)
		return;
	s->greeted = true;
	buf_printf(&text, "The agent works in %s, not in your checkout.\n", g->paths.workspace);
	for (size_t i = 0; i < g->notes.n; i++)
		buf_printf(&text, "- %s\n", g->notes.v[i]);
	buf_printf(&text, "garth diff %s", g->name);
	send_text(s, false, title, buf_str(&text));
}

/* A session that has no title gets its first prompt's first line. */
static void note_prompt(struct session *s, const json_t *blocks)
{
	const char *text = NULL;
	json_t *block;
	size_t i;

	json_array_foreach(blocks, i, block)
	{
		if (!text)
			text = rpc_text(block, "text");
	}
	auto_str line = text ? xstrndup(text, strcspn(text, "\n")) : NULL;

	list_note(s, s->titled ? NULL : line);
	s->titled = true;
}

/* To the agent of the session that it names. */
static void pass(struct acp *a, const struct rpc *m)
{
	const char *id = rpc_text(m->params, "sessionId");
	struct session *s = id ? session_find(a, id) : NULL;
	bool prompt = !strcmp(m->method, "session/prompt");
	struct err e = ERR_INIT;

	if (!id) {
		acp_say(a, rpc_error(m->id, RPC_NO_METHOD, "garth: this method is not known", NULL));
	} else if (!s || s->ask || s->close || s->agent->state != AGENT_READY) {
		acp_say(a, rpc_error(m->id, RPC_NOT_FOUND, "garth: no such session is open", NULL));
	} else {
		const struct rewrite r = rewriting(s->agent);

		if (prompt && rewrite_prompt(&r, json_object_get(m->params, "prompt"), &e) < 0) {
			acp_say(a, rpc_error_of(m->id, RPC_BAD_PARAMS, &e));
			return;
		}
		if (prompt) {
			s->agent->used = true;
			greet(s);
			note_prompt(s, json_object_get(m->params, "prompt"));
		}
		json_object_set_new(m->params, "sessionId", json_string(s->theirs));
		if (!send_request(s->agent, m->id, m->method, json_incref(m->params),
			    prompt ? PENDING_PROMPT : PENDING_PASSED, s))
			acp_say(a, rpc_error(m->id, RPC_INTERNAL, "garth: the agent has too many requests",
					   NULL));
	}
}

static void open_new(struct acp *a, const struct rpc *m)
{
	open_session(a, m, OPEN_NEW);
}

static void open_old(struct acp *a, const struct rpc *m)
{
	open_session(a, m, OPEN_OLD);
}

/* Only the user decides that two sessions share a task (--task); log-ins, models and sessions belong to the user. */
static void refuse(struct acp *a, const struct rpc *m)
{
	acp_say(a, rpc_error(m->id, RPC_NO_METHOD, "garth: not for an agent behind walls", NULL));
}

static const struct {
	const char *method;
	void (*take)(struct acp *a, const struct rpc *m);
	bool at_once; /* before the versions are agreed on */
} methods[] = {
	{ "initialize", handshake_client, true },
	{ "authenticate", handshake_log_in, false },
	{ "auth/login", handshake_log_in, false },
	{ "session/new", open_new, false },
	{ "session/load", open_old, false },
	{ "session/resume", open_old, false },
	{ "session/close", close_session, false },
	{ "session/list", list_sessions, false },
	{ "session/fork", refuse, false },
	{ "session/delete", refuse, false },
	{ "session/archive", refuse, false },
	{ "session/unarchive", refuse, false },
};

/* Whether another request has this id. */
static bool is_asked(const struct acp *a, const json_t *id)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if ((a->agents[i] && pending_find(&a->agents[i]->asked, id)) ||
			(a->sessions[i] && a->sessions[i]->ask && json_equal(a->sessions[i]->ask, id)))
			return true;
	return a->ask && json_equal(a->ask, id);
}

static void take_request(struct acp *a, const struct rpc *m)
{
	if (is_asked(a, m->id)) {
		acp_say(a, rpc_error(m->id, RPC_INVALID, "garth: another request has this id", NULL));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (strcmp(m->method, methods[i].method) != 0)
			continue;
		if (!methods[i].at_once && !a->version)
			acp_say(a, rpc_error(m->id, RPC_INVALID, "garth: initialize comes first", NULL));
		else
			methods[i].take(a, m);
		return;
	}
	pass(a, m);
}

/* Agents see the ids of the editor's requests. The ids of Garth's own requests never equal one of the editor's. */
static void cancel_request(struct acp *a, const struct rpc *m)
{
	const json_t *id = json_object_get(m->params, "requestId");

	for (size_t i = 0; id && i < SESSIONS_MAX; i++) {
		struct agent *g = a->agents[i];
		const struct pending *r = g ? pending_find(&g->asked, id) : NULL;

		if (r && (r->what == PENDING_PASSED || r->what == PENDING_PROMPT || r->what == PENDING_OPEN))
			send_message(g, rpc_notification(m->method, json_pack("{s:O}", "requestId", id)));
	}
}

static void take_notification(struct acp *a, const struct rpc *m)
{
	const char *id = rpc_text(m->params, "sessionId");
	struct session *s = id ? session_find(a, id) : NULL;

	if (!strcmp(m->method, "$/cancel_request")) {
		cancel_request(a, m);
	} else if (s && !s->ask && s->agent->state == AGENT_READY) {
		json_object_set_new(m->params, "sessionId", json_string(s->theirs));
		send_message(s->agent, rpc_notification(m->method, json_incref(m->params)));
	}
}

static void take_answer(struct acp *a, const struct rpc *m)
{
	struct pending *r = pending_find(&a->asked, m->id);

	if (!r)
		return;
	send_message(r->agent, rpc_answer_again(r->theirs, m));
	pending_drop(&a->asked, r);
}

void from_client(char *line, size_t len, void *acp)
{
	struct acp *a = acp;
	char why[RPC_WHY_MAX];
	auto_rpc m = { 0 };

	if (!line) {
		acp_say(a, rpc_error(NULL, RPC_PARSE, "garth: the message is too long", NULL));
		return;
	}
	if (rpc_read(line, len, &m, why) < 0) {
		bool known = json_is_string(m.id) || json_is_integer(m.id);

		auto_str text = xasprintf("garth: %s", why);
		acp_say(a, rpc_error(known ? m.id : NULL, m.whole ? RPC_INVALID : RPC_PARSE, text, NULL));
		return;
	}
	if (m.kind == RPC_REQUEST)
		take_request(a, &m);
	else if (m.kind == RPC_NOTIFICATION)
		take_notification(a, &m);
	else
		take_answer(a, &m);
}
