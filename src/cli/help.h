/* `garth help` and `garth COMMAND --help`: the rows of the commands (cmd.h) and options (opt.h) as text. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cmd.h"

void help_command(const struct cmd *c, const struct cmd_line *l);

#endif
