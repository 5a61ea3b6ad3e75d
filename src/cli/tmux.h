/* A window in tmux for a task (T8). */
#ifndef CLI_TMUX_H
#define CLI_TMUX_H

#include "base/err.h"

/* Opens a window named after the task, attached to it: in the user's session where there is one, else in a
 * session "garth", which is made. *ret tells how it is looked at, on the heap. */
int tmux_window(const char *task, char **ret, struct err *e);

#endif
