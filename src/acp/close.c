/* How sessions and agents end. An agent ends after its last session: its input is closed, it exits, and the task ends like
 * any other, with what it has published. */
#include "acp/parts.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "task/task.h"

#define CLOSE_MS  5000
#define LEAVE_MS  3000
#define SIGNAL_MS 5000
/* After SIGKILL only the gateway's work is waited for. */
#define PUBLISH_MS 300000

struct agent *agent_new(struct acp *a)
{
	size_t i = 0;

	while (i < SESSIONS_MAX && a->agents[i])
		i++;
	if (i == SESSIONS_MAX)
		return NULL;
	a->agents[i] = xcalloc(1, sizeof(*a->agents[i]));
	*a->agents[i] =
		(struct agent){ .acp = a, .child = STARTING_INIT, .link = { .fd = -1 }, .lines = LINES_INIT };
	return a->agents[i];
}

void agent_free(struct agent *g)
{
	struct acp *a = g->acp;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		if (a->sessions[i] && a->sessions[i]->agent == g)
			session_free(a, a->sessions[i]);
		if (a->agents[i] == g)
			a->agents[i] = NULL;
	}
	for (size_t i = a->asked.n; i--;)
		if (a->asked.v[i].agent == g)
			pending_drop(&a->asked, &a->asked.v[i]);
	starting_release(&g->child);
	link_close(&g->link);
	lines_release(&g->lines);
	pending_release(&g->asked);
	paths_release(&g->paths);
	strvec_release(&g->notes);
	free(g->name);
	free(g->branch);
	free(g->cwd);
	free(g);
}

/* Answers the requests that the editor still waits for; s NULL: those of all of the agent's sessions, and of none. */
static void finish_requests(struct agent *g, const struct session *s)
{
	struct acp *a = g->acp;

	for (size_t i = g->asked.n; i--;) {
		struct pending *r = &g->asked.v[i];

		if (s && r->session != s)
			continue;
		if (r->what == PENDING_PROMPT && g->wanted && a->version == 1)
			acp_say(a, rpc_result(r->id, json_pack("{s:s}", "stopReason", "cancelled")));
		else if (r->what == PENDING_PROMPT || r->what == PENDING_PASSED)
			acp_say(a, rpc_error(r->id, g->wanted ? RPC_CANCELLED : RPC_INTERNAL,
					   "garth: the agent has ended", NULL));
		pending_drop(&g->asked, r);
	}
}

/* One of several sessions of an agent, which goes on. */
static void close_one(struct session *s)
{
	struct agent *g = s->agent;
	struct err why = ERR_INIT;

	if (g->can_close && s->theirs && g->state == AGENT_READY)
		send_own(g, "session/close", json_pack("{s:s}", "sessionId", s->theirs), PENDING_CLOSE, NULL);
	finish_requests(g, s);
	err_set(&why, ERR_FAILED, "the session was closed");
	open_refuse(s, RPC_CANCELLED, &why);
}

void close_session(struct acp *a, const struct rpc *m)
{
	const char *id = rpc_text(m->params, "sessionId");
	struct session *s = id ? session_find(a, id) : NULL;
	struct agent *g;

	if (!s || s->close) {
		acp_say(a, rpc_error(m->id, RPC_NOT_FOUND, "garth: there is no such session", NULL));
		return;
	}
	g = s->agent;
	s->close = json_incref(m->id);
	if (agent_sessions(g) > 1) {
		close_one(s);
		return;
	}
	g->wanted = true;
	if (g->state != AGENT_READY || !g->can_close || s->ask) {
		agent_end(g);
		return;
	}
	g->state = AGENT_CLOSING;
	g->until = deadline_in(CLOSE_MS);
	if (!send_own(g, "session/close", json_pack("{s:s}", "sessionId", s->theirs), PENDING_CLOSE, s))
		agent_end(g);
}

void close_answered(struct agent *g)
{
	if (g->state == AGENT_CLOSING)
		agent_end(g);
}

void agent_end(struct agent *g)
{
	g->wanted |= !g->flooded;
	if (g->state == AGENT_STARTING || g->state >= AGENT_ENDING)
		return;
	g->state = AGENT_ENDING;
	g->until = deadline_in(LEAVE_MS);
	link_end_input(&g->link);
}

/* SIGINT comes first: it says that a person has ended it, which is no failure (task/verdict.h). */
void agent_late(struct agent *g)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGKILL };

	if (g->state == AGENT_CLOSING) {
		agent_end(g);
	} else if (g->state == AGENT_BEGINNING) {
		handshake_late(g);
	} else if (g->signals < ARRAY_SIZE(signals)) {
		link_signal(&g->link, signals[g->signals++]);
		g->until = deadline_in(g->signals < ARRAY_SIZE(signals) ? SIGNAL_MS : PUBLISH_MS);
	} else {
		err_set(&g->link.why, ERR_FAILED, "the task's keeper does not end it");
		g->link.over = true;
	}
}

/* Editors open sessions before the user asks anything. A task that was made for a session is discarded if its agent was
 * asked nothing and nothing was done in it. */
static bool drop_task(struct acp *a, const struct agent *g)
{
	const struct discard_opts careful = { 0 };
	struct err ignored = ERR_INIT;
	auto_str trash = NULL;
	auto_task t = { 0 };

	return g->made && !g->used && !task_find_id(&a->context, g->task, &t, &ignored) &&
	       !task_discard(&a->context, &t, &careful, &trash, &ignored);
}

void agent_over(struct agent *g)
{
	auto_buf title = BUF_SMALL, text = BUF_SMALL;
	struct acp *a = g->acp;
	struct err why = ERR_INIT;

	if (drop_task(a, g)) {
		buf_printf(&title, "task '%s' was asked nothing, and is discarded", g->name);
		buf_printf(&text, "garth undo %s", g->name);
	} else {
		farewell(g, &title, &text);
	}
	acp_tell(a, g->link.why.kind != ERR_NONE, "%s", buf_str(&title));
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->sessions[i] && a->sessions[i]->agent == g && !a->sessions[i]->ask)
			send_text(a->sessions[i], true, buf_str(&title), buf_str(&text));
	finish_requests(g, NULL);
	err_set(&why, ERR_FAILED, "the agent has ended: %s", buf_str(&title));
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->sessions[i] && a->sessions[i]->agent == g)
			open_refuse(a->sessions[i], RPC_INTERNAL, &why);
	agent_free(g);
}
