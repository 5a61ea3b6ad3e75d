/* Opens a tmux window for a task (T8). */
#ifndef CLI_TMUX_H
#define CLI_TMUX_H

#include <stdbool.h>

#include "base/err.h"

/* Opens a window with the task's name that is attached to it: in the user's tmux session if there is one,
 * else in a new session "garth". *ret is the command that shows the window; the caller frees it. Blocks. */
int tmux_window(const char *task, char **ret, struct err *e);
/* Does that and tells the user. A failure is only a warning: the task runs. */
void tmux_show(const char *task, bool quiet);

#endif
