/* Finds the programs that lines of shell would run, as far as that can be seen without running them. */
#ifndef PLAN_COMMAND_H
#define PLAN_COMMAND_H

#include <stdbool.h>

#include "base/strvec.h"

enum command_word {
	COMMAND_NONE,    /* there is no word */
	COMMAND_BUILTIN, /* the shell knows it by itself: test, cd, if */
	COMMAND_PATH,    /* has a slash, a quote or a variable */
	COMMAND_NAME,    /* a name, to be looked up in PATH */
};

/* The kind of a line's first word; a COMMAND_NAME is also added to *ret. */
enum command_word command_first(const char *line, struct strvec *ret);
/* Adds each name that is in the place of a command, once. */
void command_names(const char *line, struct strvec *ret);

/* Whether a text has words that commands do not have, and sentences do. */
bool command_reads_as_sentence(const char *text);

#endif
