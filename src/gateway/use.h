/* How much room a task takes, whatever it has closed to itself. */
#ifndef GATEWAY_USE_H
#define GATEWAY_USE_H

#include "base/err.h"
#include "sys/tree.h"

/* Adds what is beneath a directory of dir's. Where its owner, who is the caller, has closed something, a
 * process looks that has rights over its owner's files (a user namespace of its own). */
int use_add(int dir, const char *name, struct tree_use *ret, struct err *e);

#endif
