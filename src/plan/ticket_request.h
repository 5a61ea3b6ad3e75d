/*
 * Answers a request about tickets, which a task's gateway passes on (gateway/ticket_relay.h). The request comes from inside
 * the task, and is hostile. A task can name only its own tickets: an id is looked up among those and nowhere else.
 *
 *	GET  /api/v1/tickets                    → {"tickets":[…],"max":8,"at_once":3,"left":5}
 *	POST /api/v1/tickets                    {"title","prompt"?,"agent"?,"files"?,"acceptance"?,"depends"?,"submodules"?,
 *	                                        "timeout"?} → 201 {"id","task","branch","state" …}
 *	GET  /api/v1/tickets/ID                 → {"id","title","task","branch","state","note","tip" …}
 *	GET  /api/v1/tickets/ID/diff            → {"diff","cut"}
 *	GET  /api/v1/tickets/ID/log             → {"log"}
 *	POST /api/v1/tickets/wait               {"ids"?,"seconds"?,"block"?} → {"tickets":[…],"over"}
 *	POST /api/v1/tickets/ID/answer          {"text"}
 *	POST /api/v1/tickets/ID/retry           {"prompt"?}
 *	POST /api/v1/tickets/ID/cancel, …/discard
 *	POST /api/v1/tickets/ID/merge           checked here; git inside the task merges (history/tickets.h)
 *
 * `wait` blocks; the others take as long as what they start.
 */
#ifndef PLAN_TICKET_REQUEST_H
#define PLAN_TICKET_REQUEST_H

#include <jansson.h>

#include "task/context.h"

struct ticket_ask {
	int64_t task;
	const char *method, *path; /* the path after /api/v1/tickets: "", "/t1/diff" */
	const char *body;
	size_t len;
};

/* {"status":201,"answer":{…},"show":[{"ticket":N,"ref","tip"}],"merge":{"ref","tip"}}: `show`: the refs that the task
 * should have inside now; `merge`: what it merges. */
json_t *ticket_request(struct context *c, const struct ticket_ask *q);

#endif
