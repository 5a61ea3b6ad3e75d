/* `garth help` and `garth COMMAND --help`: prints the rows of commands (cmd.h) and options (opt.h). */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cmd.h"

void help_command(const struct cmd *c, const struct cmd_line *l);

#endif
