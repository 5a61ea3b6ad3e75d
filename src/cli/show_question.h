/* A blocked task's question, as text and as JSON. */
#ifndef CLI_SHOW_QUESTION_H
#define CLI_SHOW_QUESTION_H

#include <jansson.h>

#include "task/context.h"
#include "task/task.h"

/* Prints what a blocked task asks and how to answer it; nothing for other tasks. */
void question_tell(struct context *c, const struct task *t, bool brief);
/* {"text", "options", "asked"}, or null. */
json_t *question_json(struct context *c, const struct task *t);
/* The meaning of an answer: an option's text or number is that option, anything else is the answer itself.
 * ERR_USAGE: there is no option of that number. The caller frees *ret. */
int question_choose(struct context *c, const struct task *t, const char *answer, char **ret, struct err *e);
/* "1. sqlite", a line for each option. */
void question_options(struct context *c, const struct task *t, struct strvec *ret);
/* The question on one line, NULL if there is none. The caller frees it. */
char *question_line(struct context *c, const struct task *t);

#endif
