/* Removes large directory trees in the background. */
#ifndef SYS_REMOVE_LATER_H
#define SYS_REMOVE_LATER_H

#include "base/err.h"

/* Removes name beneath dir: at once if it is small, else in a background process that outlives this one.
 * After a crash, what is left is still under that name. */
int later_remove(int dir, const char *name, struct err *e);

#endif
