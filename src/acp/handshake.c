/* What an editor and an agent say to each other before the first session. The editor sends initialize before it names a
 * directory, so an agent in an empty task is asked, and the editor gets its answer. Garth sends the same to each agent that
 * it starts for a session. */
#include "acp/parts.h"

#include <stdio.h>
#include <string.h>

#include "acp/capabilities.h"
#include "base/alloc.h"
#include "jail/userns.h"
#include "mcp/message.h"

#define PROBE_ID "garth"
#define BEGIN_MS 120000

static void refuse(struct acp *a, enum rpc_code code, const struct err *why)
{
	acp_say(a, rpc_error_of(a->ask, code, why));
	json_decref(steal_ptr(a->ask));
}

/* The variables that the agent gets. */
static const struct strvec *variables(const struct acp *a)
{
	return a->known ? &a->known->env : NULL;
}

/* False, with the reason, if it is not an answer. */
static bool take_result(struct acp *a, const json_t *result, char why[160])
{
	json_t *told = capabilities_of_agent(result, variables(a), why);

	if (!told)
		return false;
	a->version = (int)json_integer_value(json_object_get(told, "protocolVersion"));
	a->notices = capabilities_has_notices(a->hello, a->version);
	a->methods = json_incref(json_object_get(told, "authMethods"));
	acp_say(a, rpc_result(a->ask, told));
	json_decref(steal_ptr(a->ask));
	return true;
}

/* Whether the agent's answer is known. */
static bool answer_known(struct acp *a)
{
	auto_str text = known_answer(a);
	char why[RPC_WHY_MAX];
	json_t *result = text ? message_parse(text, strlen(text), why) : NULL;
	bool ok = result && take_result(a, result, why);

	json_decref(result);
	return ok;
}

/* Without namespaces there is no empty task to ask in: the editor is told only what every agent can do. The answer of the
 * first session's agent is kept for the next time. */
static bool answer_least(struct acp *a)
{
	json_t *least = json_pack("{s:i, s:{}}", "protocolVersion", 1, "agentCapabilities");
	char why[RPC_WHY_MAX];
	bool ok = a->o->weaker && !userns_works() && take_result(a, least, why);

	json_decref(least);
	return ok;
}

static void probe(struct acp *a, struct err *e)
{
	auto_buf line = BUF_INIT(1u << 20);
	struct start_spec spec = { .o = a->o, .what = START_PROBE, .cwd = "/", .line = &line };
	json_t *id = json_string(PROBE_ID), *ask = rpc_request(id, "initialize", json_incref(a->hello));

	message_write(&line, ask);
	buf_addch(&line, '\n');
	json_decref(ask);
	json_decref(id);
	context_close_store(&a->context);
	if (starting_begin(&a->probe, &spec, e) < 0)
		refuse(a, RPC_INTERNAL, e);
}

void handshake_client(struct acp *a, const struct rpc *m)
{
	struct err e = ERR_INIT;

	if (a->hello) {
		acp_say(a, rpc_error(m->id, RPC_INVALID, "garth: initialize was asked already", NULL));
		return;
	}
	a->hello = capabilities_of_client(m->params);
	a->ask = json_incref(m->id);
	if (!answer_known(a) && !answer_least(a))
		probe(a, &e);
}

/* The agent's answer to the probe. */
static void take_answer(struct acp *a, const char *text)
{
	auto_str line = xstrdup(text);
	struct err e = ERR_INIT;
	char why[RPC_WHY_MAX] = "it is not an answer";
	auto_rpc m = { 0 };
	bool is_answer = !rpc_read(line, strlen(line), &m, why) && m.kind == RPC_ANSWER &&
			 json_is_string(m.id) && !strcmp(json_string_value(m.id), PROBE_ID);

	if (is_answer && m.error) {
		acp_say(a, rpc_answer_again(a->ask, &m));
		json_decref(steal_ptr(a->ask));
	} else if (is_answer && take_result(a, m.result, why)) {
		known_keep(a, m.result);
	} else {
		err_set(&e, ERR_FAILED, "the agent did not answer as the protocol says: %s", why);
		refuse(a, RPC_INTERNAL, &e);
	}
}

void handshake_probed(struct acp *a)
{
	bool over = starting_read(&a->probe);
	const char *answer = starting_get(&a->probe, "answer");
	struct err e = ERR_INIT;

	if (a->ask && answer)
		take_answer(a, answer);
	if (!over)
		return;
	if (a->ask) {
		starting_failed(&a->probe, &e);
		refuse(a, RPC_INTERNAL, &e);
	}
	starting_release(&a->probe);
}

static const char *method_id(const struct acp *a, const json_t *v)
{
	return rpc_text(v, a->version > 1 ? "methodId" : "id");
}

/* Repeated with each agent, since each has its own home. */
void handshake_log_in(struct acp *a, const struct rpc *m)
{
	const char *asked = rpc_text(m->params, "methodId");
	json_t *v;
	size_t i;

	json_array_foreach(a->methods, i, v)
	{
		const char *id = method_id(a, v);

		if (!asked || !id || strcmp(asked, id) != 0)
			continue;
		json_decref(a->log_in);
		a->log_in = json_pack("{s:s}", "methodId", asked);
		acp_say(a, rpc_result(m->id, NULL));
		return;
	}
	acp_say(a, rpc_error(m->id, RPC_BAD_PARAMS, "garth: there is no such way to log in", NULL));
}

void handshake_begin(struct agent *g)
{
	g->state = AGENT_BEGINNING;
	g->until = deadline_in(BEGIN_MS);
	send_own(g, "initialize", json_incref(g->acp->hello), PENDING_INITIALIZE, NULL);
}

/* None of its sessions can be opened. */
static void fail(struct agent *g, const char *why)
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_FAILED, "%s", why);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (g->acp->sessions[i] && g->acp->sessions[i]->agent == g)
			open_refuse(g->acp->sessions[i], RPC_INTERNAL, &e);
	agent_end(g);
}

void handshake_late(struct agent *g)
{
	fail(g, "the agent does not answer");
}

void handshake_answered(struct agent *g, enum pending_what what, const struct rpc *m)
{
	struct acp *a = g->acp;
	char why[160] = "the agent refuses to begin";
	json_t *told = NULL;

	if (g->state != AGENT_BEGINNING)
		return;
	if (what == PENDING_INITIALIZE) {
		told = m->result ? capabilities_of_agent(m->result, variables(a), why) : NULL;
		if (told && json_integer_value(json_object_get(told, "protocolVersion")) != a->version)
			snprintf(
				why, sizeof(why), "the agent does not speak version %d any more", a->version),
				json_decref(steal_ptr(told));
		if (!told) {
			fail(g, why);
			return;
		}
		json_decref(told);
		known_keep(a, m->result);
		g->can_close = capabilities_can_close(m->result);
		if (a->log_in) {
			send_own(g, a->version > 1 ? "auth/login" : "authenticate", json_incref(a->log_in),
				PENDING_LOG_IN, NULL);
			return;
		}
	}
	/* if it could not log in, it says so when a session is opened */
	g->state = AGENT_READY;
	open_waiting(g);
}
