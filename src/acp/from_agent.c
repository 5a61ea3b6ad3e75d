/* Messages of an agent. They are hostile: a list says what it may ask the editor, each message must name one of its own
 * sessions, and an answer must belong to a request that it got. */
#include "acp/parts.h"

#include <string.h>

#include "acp/shown.h"
#include "base/alloc.h"

/* How many requests of one agent may wait for the editor. */
#define ASKS_MAX 100
/* How many malformed messages the user is told about. */
#define COMPLAINTS_MAX 3

static void complain(struct agent *g, const char *what)
{
	if (g->complaints++ < COMPLAINTS_MAX)
		acp_tell(g->acp, true, "task '%s': a message of its agent is dropped: %s", g->name, what);
}

static void refuse(struct agent *g, const struct rpc *m, const char *why)
{
	send_message(g, rpc_error(m->id, RPC_NO_METHOD, why, NULL));
}

/* Puts the editor's id of the session in place of the agent's. NULL if it is none of the agent's sessions. */
static struct session *take_session(struct agent *g, const struct rpc *m)
{
	const char *theirs = rpc_text(m->params, "sessionId");
	struct session *s = theirs ? session_of(g, theirs) : NULL;

	/* a session that is being loaded shows its history first */
	if (!s || (s->ask && !s->passed))
		return NULL;
	json_object_set_new(m->params, "sessionId", json_string(s->id));
	return s;
}

static void ask_editor(struct agent *g, const struct rpc *m, struct session *s)
{
	struct acp *a = g->acp;
	struct pending r = { .agent = g, .theirs = m->id, .session = s };
	size_t n = 0;
	bool added;

	for (size_t i = 0; i < a->asked.n; i++)
		n += a->asked.v[i].agent == g;
	if (n >= ASKS_MAX || pending_find_theirs(&a->asked, g, m->id)) {
		send_message(g, rpc_error(m->id, RPC_INVALID,
					n >= ASKS_MAX ? "garth: too many requests wait for the editor"
						      : "garth: another request has this id",
					NULL));
		return;
	}
	r.id = json_integer(++a->ids);
	added = pending_add(&a->asked, &r);
	if (added)
		acp_say(a, rpc_request(r.id, m->method, json_incref(m->params)));
	else
		send_message(g,
			rpc_error(m->id, RPC_INVALID, "garth: too many requests wait for the editor", NULL));
	json_decref(r.id);
}

static void ask_permission(struct agent *g, const struct rpc *m)
{
	struct session *s = take_session(g, m);

	if (!s) {
		send_message(
			g, rpc_error(m->id, RPC_NOT_FOUND, "garth: this is not one of your sessions", NULL));
		return;
	}
	shown_clean(&g->paths, m->params);
	ask_editor(g, m, s);
}

/* A form is passed on. A page is not: the editor would open it outside, where the agent has no access. */
static void ask_form(struct agent *g, const struct rpc *m)
{
	const char *mode = rpc_text(m->params, "mode");
	const json_t *about = json_object_get(m->params, "requestId");
	const struct pending *r = about ? pending_find(&g->asked, about) : NULL;
	struct session *s = about ? NULL : take_session(g, m);

	if (!mode || strcmp(mode, "form") != 0)
		refuse(g, m, "garth: only forms are shown");
	else if (!s && (!r || r->what == PENDING_CLOSE || json_object_get(m->params, "sessionId")))
		send_message(g, rpc_error(m->id, RPC_NOT_FOUND,
					"garth: it does not belong to one of your sessions", NULL));
	else
		ask_editor(g, m, s);
}

static void take_request(struct agent *g, const struct rpc *m)
{
	if (!strcmp(m->method, "session/request_permission"))
		ask_permission(g, m);
	else if (!strcmp(m->method, "elicitation/create"))
		ask_form(g, m);
	else if (!strncmp(m->method, "fs/", 3) || !strncmp(m->method, "terminal/", 9))
		refuse(g, m,
			"garth: the editor is outside the walls; read and write files, and run commands, yourself");
	else
		refuse(g, m, "garth: an agent behind walls cannot ask the editor for this");
}

static void update(struct agent *g, const struct rpc *m)
{
	static const char *const dropped[] = { "subagent_update", "session_message",
		"session_message_chunk" };
	const json_t *what = json_object_get(m->params, "update");
	const char *kind = rpc_text(what, "sessionUpdate"), *title = rpc_text(what, "title");
	struct session *s = take_session(g, m);

	if (!s || !kind)
		return;
	/* these name other sessions too */
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (!strcmp(kind, dropped[i]))
			return;
	if (!strcmp(kind, "session_info_update") && title && !s->ask) {
		s->titled = true;
		list_note(s, title);
	}
	shown_clean(&g->paths, m->params);
	acp_say(g->acp, rpc_notification(m->method, json_incref(m->params)));
}

static void take_notification(struct agent *g, const struct rpc *m)
{
	const json_t *id = json_object_get(m->params, "requestId");
	const struct pending *r;

	if (!strcmp(m->method, "session/update")) {
		update(g, m);
	} else if (!strcmp(m->method, "$/cancel_request") && id) {
		r = pending_find_theirs(&g->acp->asked, g, id);
		if (r)
			acp_say(g->acp, rpc_notification(m->method, json_pack("{s:O}", "requestId", r->id)));
	}
}

static void take_answer(struct agent *g, const struct rpc *m)
{
	struct pending *r = pending_find(&g->asked, m->id);
	json_t *data = json_object_get(m->error, "data");
	struct pending mine;

	if (!r) {
		complain(g, "it answers no request");
		return;
	}
	mine = *r;
	if (rpc_text(data, "sessionId") && mine.session)
		json_object_set_new(data, "sessionId", json_string(mine.session->id));
	/* what follows may add requests, or end the agent */
	json_incref(mine.id);
	pending_drop(&g->asked, r);
	switch (mine.what) {
	case PENDING_INITIALIZE:
	case PENDING_LOG_IN:
		handshake_answered(g, mine.what, m);
		break;
	case PENDING_OPEN:
		if (mine.session)
			open_answered(mine.session, m);
		break;
	case PENDING_CLOSE:
		close_answered(g);
		break;
	default:
		acp_say(g->acp, rpc_answer_again(mine.id, m));
	}
	json_decref(mine.id);
}

void from_agent(char *line, size_t len, void *agent)
{
	struct agent *g = agent;
	char why[RPC_WHY_MAX];
	auto_rpc m = { 0 };

	if (!line) {
		complain(g, "it is longer than 16 MiB");
		return;
	}
	if (rpc_read(line, len, &m, why) < 0) {
		complain(g, why);
		return;
	}
	if (m.kind == RPC_REQUEST)
		take_request(g, &m);
	else if (m.kind == RPC_NOTIFICATION)
		take_notification(g, &m);
	else
		take_answer(g, &m);
}
