/* Names that come in from outside, checked once, where they come in. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>

#include "base/err.h"

#define NAME_MAX_LEN 64

/* A task's name: [a-z0-9][a-z0-9._-]{0,63}, and what git accepts at the end of a branch name. */
int name_check_task(const char *name, struct err *e);
/* A name of an environment variable: [A-Za-z_][A-Za-z0-9_]*. */
bool name_is_variable(const char *name, unsigned long len);
/* Makes a task's name of any text, such as a program's path; the result always passes name_check_task. */
void name_suggest(const char *text, char out[NAME_MAX_LEN + 1]);

/* Whether it can be the short name of a branch: it must not get as far as a file's name, a refspec or a line
 * of orders for git otherwise. */
bool name_is_branch(const char *name);

#endif
