/* Checks for names that come from outside: tasks, environment variables, branches. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>

#include "base/err.h"

#define NAME_MAX_LEN 64

/* A task's name: [a-z0-9][a-z0-9._-]{0,63}, and valid for git as the last part of a branch name. */
int name_check_task(const char *name, struct err *e);
/* A name of an environment variable: [A-Za-z_][A-Za-z0-9_]*. */
bool name_is_variable(const char *name, unsigned long len);
/* Makes a task's name from any text, such as a program's path. The result always passes name_check_task. */
void name_suggest(const char *text, char out[NAME_MAX_LEN + 1]);

/* The same from a sentence: its first words, at most five, in about forty characters. */
void name_of_words(const char *text, char out[NAME_MAX_LEN + 1]);

/* Whether the name can be a branch's short name. Anything else must not reach a file name, a refspec or a
 * command line of git. */
bool name_is_branch(const char *name);

/* Splits "Name <mail>" into its two parts, on the heap. False, and nothing to free, if it has another form, or a
 * line break, which would end the line in a commit's header. */
bool name_split_person(const char *person, char **ret_name, char **ret_mail);

#endif
