/* What takes long and nobody has to wait for: removing a tree in the background. */
#ifndef SYS_REMOVE_LATER_H
#define SYS_REMOVE_LATER_H

#include "base/err.h"

/* Removes name beneath dir: at once where it is small, else in a process of its own that outlives this one.
 * Whoever comes after a crash finds what is left under that name. */
int later_remove(int dir, const char *name, struct err *e);

#endif
