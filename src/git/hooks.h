/*
 * Copies the user's hooks into a private repository, so that they run inside as they would outside. They are
 * copied from where the user's git finds them. If core.hooksPath is beneath the checkout (as husky does it),
 * the workspace's own files are run. Samples are left out, and so is reference-transaction, which Garth uses
 * itself.
 *
 * A repository that came from elsewhere must not bring the user's files into a task this way. So a directory outside
 * the repository that its own configuration names, and a hook that is a link out of it, are refused until the user
 * trusts the repository (trust.h).
 */
#ifndef GIT_HOOKS_H
#define GIT_HOOKS_H

#include "base/err.h"
#include "git/repo.h"

/* Writes them into hooks/ of dir, which is empty. If one cannot be copied, that is an error with its name. */
int hooks_put(int dir, const struct repo *r, struct err *e);

#endif
