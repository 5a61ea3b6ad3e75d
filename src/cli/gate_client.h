/* Asking a task's gateway, as the user: over the task's second socket, HTTP and JSON (gateway/routes.h).
 * Where the task is stopped, a keeper is started for as long as it takes. */
#ifndef CLI_GATE_CLIENT_H
#define CLI_GATE_CLIENT_H

#include <jansson.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* in is consumed. *ret is the answer's object. An error of the gateway's is an error here. */
int gate_ask(struct context *c, struct task *t, const char *path, json_t *in, json_t **ret, struct err *e);

/* A rollback: {"full":true}, {"snapshot":N} or one file, as gateway/routes.h has it. Ignored directories of a
 * stopped task are moved, not copied: workspace/aside.h. */
int gate_rollback(struct context *c, struct task *t, json_t *in, json_t **ret, struct err *e);

/* Takes a rollback back: the task goes to the snapshot that was taken before it. */
int rollback_undo(struct context *c, const struct deed *d, struct err *e);

#endif
