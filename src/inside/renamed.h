/* After a rename (task/rename.h): the branch in the task's own repository gets the new name too. That repository
 * is the agent's, so git inside does it. inside_open tries it; if it fails there, the next one tries again. */
#ifndef INSIDE_RENAMED_H
#define INSIDE_RENAMED_H

#include "inside/inside.h"

/* Does nothing if nothing is owed. A branch that the agent made under the new name is moved out of the way, to
 * NAME.own. */
int inside_renamed(struct inside *in, struct err *e);

#endif
