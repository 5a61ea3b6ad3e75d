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
/* What an answer is: the text of an option, or its number, is that option; anything else is itself. ERR_USAGE
 * where there is no option of that number. On the heap. */
int ask_choose(struct context *c, const struct task *t, const char *answer, char **ret, struct err *e);
/* "1. sqlite", a line for each option. */
void ask_options(struct context *c, const struct task *t, struct strvec *ret);
/* The question on one line, on the heap; NULL where there is none. */
char *ask_line(struct context *c, const struct task *t);

#endif
