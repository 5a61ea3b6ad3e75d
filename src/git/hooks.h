/*
 * The user's own hooks, carried into a private repository: they run inside as they would outside. Read from
 * where the user's git looks for them; a core.hooksPath beneath the checkout (as husky has it) leads to the
 * workspace's own files. The samples are left out, and so is reference-transaction, whose place is ours.
 */
#ifndef GIT_HOOKS_H
#define GIT_HOOKS_H

#include "base/err.h"
#include "git/repo.h"

/* Into hooks/ of dir, which is empty. One that cannot be carried is an error that names it. */
int hooks_put(int dir, const struct repo *r, struct err *e);

#endif
