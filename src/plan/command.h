/* Finds the words of a shell's lines that are run as programs, as far as that can be seen without running them. */
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

/* What the first word of a line is; with COMMAND_NAME it is added to *ret. */
enum command_word command_first(const char *line, struct strvec *ret);
/* Adds the names in all places where a command begins; each once. */
void command_names(const char *line, struct strvec *ret);

/* Whether a text has words that commands do not have, and sentences do. */
bool command_reads_as_sentence(const char *text);

#endif
