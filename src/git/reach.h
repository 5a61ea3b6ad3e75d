/* Questions about the user's history: what is reached from where. */
#ifndef GIT_REACH_H
#define GIT_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* How many commits the tips reach that none of `except` does; names of objects, hexadecimal. */
int reach_count(const struct repo *r, const struct strvec *tips, const struct strvec *except, size_t *ret,
	struct err *e);
/* Whether `from` is the commit, or reaches it. What is not there is not reached. */
bool reach_has(const struct repo *r, const char *from, const char *commit);

#endif
