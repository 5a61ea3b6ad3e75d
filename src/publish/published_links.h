/* Which commits the gitlinks of a task's submodules may name: those that the task has published from them, and
 * nothing else. They must contain what was there: otherwise a task could merge its target and keep its own older commit of
 * the submodule, without the user's changes there, which may be in protected paths. The user's repository of a submodule
 * is asked when the first gitlink has moved. */
#ifndef PUBLISH_PUBLISHED_LINKS_H
#define PUBLISH_PUBLISHED_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"
#include "inside/inside.h"

struct published_links {
	struct inside *in;     /* whose commits have the gitlinks: the task's, or a submodule's */
	struct strvec asked;   /* paths of submodules whose commits are in `commits` */
	struct strvec commits; /* "COMMIT PATH" */
};

void published_links_release(struct published_links *g);
/* For policy.h; arg is a struct published_links. path is in in->within. */
bool published_links_may_move(void *arg, const char *path, const char *commit, const struct strvec *from);

#endif
