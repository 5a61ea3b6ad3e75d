/*
 * Front end for editors that speak the Agent Client Protocol (ACP, versions 1 and 2), `garth acp -- AGENT`. The editor
 * starts it as it would start the agent: JSON-RPC, a message a line, over the standard streams. Each session of the
 * editor is a task, in which the agent itself runs, behind walls.
 *
 *	editor ── stdin, stdout ── acp_serve ── keeper's connection (link.h) ── agent, one for each session
 *
 * Both ends are read line by line (lines.h, rpc.h). Messages are passed on by lists of what is known:
 *
 *	capabilities.h    what the two say of themselves: nothing that would run in the editor
 *	from_client.c     requests of the editor; rewrite.h makes paths of the checkout to those of the workspace
 *	from_agent.c      what an agent may ask the editor; shown.h keeps the editor from opening files elsewhere
 *	open.c, close.c   beginning and end of a session: a task is made or found, its agent started (start.h), ended
 *	handshake.c       what Garth itself says to an agent that has just started
 *
 * Ids are not passed on: an agent could choose one that another agent has. The editor sees ids of sessions that Garth
 * made, and the store has what belongs to them (store_acp_session), so that a session can be loaded weeks later.
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
	bool quiet; /* nothing of Garth's own in a session */
	char *const *argv;
	acp_tell_fn *tell;
	void *tell_arg;
};

/* Serves the editor on stdin and stdout until it closes its end, or until SIGTERM, SIGINT or SIGHUP; then ends all agents and
 * waits for what they publish. A second signal leaves that to the tasks' keepers. Blocks. -1 if it could not start, or
 * the editor does not read its answers. */
int acp_serve(const struct acp_opts *o, struct err *e);

#endif
