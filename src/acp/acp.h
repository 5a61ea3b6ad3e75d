/*
 * Front end for editors that speak the Agent Client Protocol (ACP, versions 1 and 2), `garth acp -- AGENT`. The editor
 * starts it as it would start the agent: JSON-RPC, a message a line, over the standard streams. Each session of the
 * editor is a task, in which the agent itself runs, behind walls.
 *
 *	editor ── stdin, stdout ── acp_serve ── keeper's connection (link.h) ── agent, one for each session
 *
 * Both ends are read line by line (lines.h, rpc.h). A message is passed on only if a list allows it:
 *
 *	capabilities.h    what each side says that it can do: nothing that would run in the editor
 *	from_client.c     requests of the editor; rewrite.h turns paths of the checkout into paths of the workspace
 *	from_agent.c      what an agent may ask the editor; shown.h keeps the editor from opening other files
 *	open.c, close.c   beginning and end of a session: its task is made or found, its agent started (start.h) and ended
 *	handshake.c       what Garth itself says to an agent that has just started
 *
 * Ids are not passed on: an agent could choose an id that another agent has. The editor sees session ids that Garth made.
 * What belongs to each is in the store (store_acp_session), so that a session can be loaded weeks later.
 */
#ifndef ACP_ACP_H
#define ACP_ACP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"

/* Tells the user something, outside the protocol. */
typedef void acp_tell_fn(bool warning, const char *text, void *arg);

struct acp_opts {
	const char *task; /* all sessions are in this task; NULL: one task for each */
	const char *base, *backend, *net, *agent, *on_dirty;
	const struct strvec *allow, *env;
	const struct strvec
		*mcp_secrets; /* MCP servers of the editor that get their variables and headers; "*": all */
	bool with_changes, strict, weaker;
	bool quiet; /* Garth writes nothing of its own into sessions */
	char *const *argv;
	acp_tell_fn *tell;
	void *tell_arg;
};

/* Serves the editor on stdin and stdout until it closes its end, or until SIGTERM, SIGINT or SIGHUP. Then it ends all
 * agents and waits until their work is published; after a second signal it does not wait, and the tasks' keepers finish
 * this. Blocks. -1 if it could not start, or if the editor does not read its answers. */
int acp_serve(const struct acp_opts *o, struct err *e);

#endif
