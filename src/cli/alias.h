/* Other names of commands, for fingers that are used to other programs. They do the same as the command itself,
 * with the same options. */
#ifndef CLI_ALIAS_H
#define CLI_ALIAS_H

#include "cli/cmd.h"

struct alias {
	const char *name;
	const char *command;
};
/* Ends with a row without a name. "status" has two rows: with a word it is `show`, else `ls`. */
extern const struct alias aliases[];

/* The command for an alias and the words after it, or NULL. */
const struct cmd *alias_find(const char *name, int argc, char **argv);
/* " (also: list, status)", or "". The caller frees it. */
char *alias_text(const struct cmd *c);

#endif
