/* Asking a task's gateway, as the user: over the task's second socket, HTTP and JSON (gateway/routes.h). If the
 * task is stopped, a keeper is started for as long as it takes. */
#ifndef RUNTIME_GATEWAY_CLIENT_H
#define RUNTIME_GATEWAY_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* in is consumed. *ret is the answer's object. An error that the gateway answers is an error here. */
int gateway_ask(struct context *c, struct task *t, const char *path, json_t *in, json_t **ret, struct err *e);

struct gateway_question {
	const char *path;
	bool set_aside; /* ignored directories are set aside first, if the task is stopped */
	bool stopped;   /* refused if the task runs: what comes back cannot come into a running one */
};
int gateway_ask_with(struct context *c, struct task *t, const struct gateway_question *q, json_t *in,
	json_t **ret, struct err *e);

#endif
