/* The open ports of a running task. */
#ifndef CLI_PORTS_H
#define CLI_PORTS_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"
#include "task/task.h"

/* Parses "3000". */
int ports_parse(const char *text, uint16_t *ret, struct err *e);
/* "3000→127.0.0.1:41234" for each open port, separated by spaces; nothing if the task does not run. */
void ports_text(struct context *c, const struct task *t, struct buf *ret);
/* [{"inside", "outside"}] */
json_t *ports_json(struct context *c, const struct task *t);

#endif
