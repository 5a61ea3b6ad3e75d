/*
 * What the files of the routes share. routes.c has the table and answers; the handlers are in the file of
 * their subject, and read the request with the functions below.
 */
#ifndef GATEWAY_ROUTES_PARTS_H
#define GATEWAY_ROUTES_PARTS_H

#include <jansson.h>

#include "gateway/gateway.h"
#include "publish/refusal.h"

struct request {
	struct gateway *gateway;
	json_t *in;          /* an object */
	const char *session; /* that the request names; NULL: none */
	json_t *out;
	struct refusal no;
};

typedef int handler(struct request *q, struct err *e);

/* Fails with ERR_USAGE: the request is malformed. */
int request_bad(struct request *q, struct err *e, const char *what);
/* A string member, NULL if it is absent. ERR_USAGE if the member has another type. */
int request_text(struct request *q, const char *key, const char **ret, struct err *e);
/* For an answer. The caller owns the array. */
json_t *request_list(const struct strvec *v);

/* The code of a refusal that only asks for a short wait: HTTP status 429. */
#define ROUTE_TOO_SOON "too_soon"

/* routes_remote.c: push to and fetch from the user's remote for an agent, as far as the user allows. */
handler route_push, route_fetch;
/* routes_context.c */
handler route_context;
/* routes_git.c: commits that the task publishes, and what git inside is about to do */
handler route_commit, route_publish, route_user_publish, route_reset, route_checkout, route_merge;
/* routes_stage.c: questions to the user, and what a plan's stage leaves and asks */
handler route_question, route_note, route_output, route_complete;
/* routes_history.c: snapshots, rollback, sync, and pausing the task for the user */
handler route_agent_snapshot, route_user_snapshot, route_user_rollback, route_user_sync, route_user_renamed,
	route_user_pause, route_user_resume;

#endif
