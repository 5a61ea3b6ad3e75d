/* The ports of a running task, as they are reached from outside. */
#ifndef CLI_PORTS_H
#define CLI_PORTS_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"
#include "task/task.h"

/* "3000" as a number. */
int ports_parse(const char *text, uint16_t *ret, struct err *e);
/* "3000→127.0.0.1:41234" for each that is open, separated by spaces; nothing where the task does not run. */
void ports_text(struct context *c, const struct task *t, struct buf *ret);
/* [{"inside", "outside"}] */
json_t *ports_json(struct context *c, const struct task *t);

#endif
