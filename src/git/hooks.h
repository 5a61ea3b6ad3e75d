/*
 * Copies the user's hooks into a private repository, so that they run inside as they would outside. They are
 * copied from where the user's git finds them. If core.hooksPath is beneath the checkout (as husky does it),
 * the workspace's own files are run. Samples are left out, and so is reference-transaction, which Garth uses
 * itself.
 */
#ifndef GIT_HOOKS_H
#define GIT_HOOKS_H

#include "base/err.h"
#include "git/repo.h"

/* Writes them into hooks/ of dir, which is empty. If one cannot be copied, that is an error with its name. */
int hooks_put(int dir, const struct repo *r, struct err *e);

#endif
