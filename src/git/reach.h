/* Asks which commits can be reached from others. */
#ifndef GIT_REACH_H
#define GIT_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* How many commits the tips reach that none of `except` reaches. Both are lists of ids. */
int reach_count(const struct repo *r, const struct strvec *tips, const struct strvec *except, size_t *ret,
	struct err *e);
/* Whether `from` is the commit or reaches it. False for commits that do not exist. */
bool reach_has(const struct repo *r, const char *from, const char *commit);

#endif
