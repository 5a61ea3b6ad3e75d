#include "acp/parts.h"

#include <signal.h>
#include <stdio.h>

#include "base/alloc.h"
#include "mcp/message.h"

/* Writes one line; false if it is longer than any reader accepts. */
static bool write_line(const json_t *message, struct buf *out)
{
	message_write(out, message);
	buf_addch(out, '\n');
	return !out->overflow;
}

void send_message(struct agent *g, json_t *message_new)
{
	auto_buf line = BUF_INIT(MCP_ANSWER_MAX);

	if (write_line(message_new, &line) && !link_write(&g->link, line.data, line.len) && !g->flooded) {
		acp_tell(g->acp, true, "task '%s': its agent reads nothing, and is ended", g->name);
		g->flooded = true;
		agent_end(g);
		link_signal(&g->link, SIGKILL);
	}
	json_decref(message_new);
}

bool send_request(struct agent *g, const json_t *id, const char *method, json_t *params_new,
	enum pending_what what, struct session *s)
{
	const struct pending r = { .id = (json_t *)id, .what = what, .session = s };

	if (!pending_add(&g->asked, &r)) {
		json_decref(params_new);
		return false;
	}
	send_message(g, rpc_request(id, method, params_new));
	return true;
}

bool send_own(
	struct agent *g, const char *method, json_t *params_new, enum pending_what what, struct session *s)
{
	json_t *id = json_sprintf("garth-%u", ++g->own_ids);
	bool sent = send_request(g, id, method, params_new, what, s);

	json_decref(id);
	return sent;
}

/* In version 2 every editor may be sent notices; in version 1 those that say so. */
static json_t *update(const struct acp *a, bool last, const char *title, const char *text)
{
	auto_str whole = xasprintf("%s\n\n%s\n", title, text);

	if (a->notices)
		return json_pack("{s:s, s:s, s:s, s:s}", "sessionUpdate", "notice", "severity", "info",
			"title", title, "description", text);
	/* at the beginning it must not look like the agent's answer */
	return json_pack("{s:s, s:{s:s, s:s}}", "sessionUpdate",
		last ? "agent_message_chunk" : "agent_thought_chunk", "content", "type", "text", "text",
		whole);
}

void send_text(struct session *s, bool last, const char *title, const char *text)
{
	struct acp *a = s->agent->acp;
	json_t *what = update(a, last, title, text);

	/* NULL: a name that is not UTF-8 */
	if (!what || a->o->quiet)
		return json_decref(what);
	acp_say(a, rpc_notification(
			   "session/update", json_pack("{s:s, s:o}", "sessionId", s->id, "update", what)));
}
