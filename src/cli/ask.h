/* A task's open question, as people and scripts see it. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include <jansson.h>

#include "task/context.h"
#include "task/task.h"

/* Tells what a blocked task asks, and how it is answered; nothing where it does not. */
void ask_tell(struct context *c, const struct task *t, bool brief);
/* {"text", "options", "asked"}, or null. */
json_t *ask_json(struct context *c, const struct task *t);
/* The question on one line, on the heap; NULL where there is none. */
char *ask_line(struct context *c, const struct task *t);

#endif
