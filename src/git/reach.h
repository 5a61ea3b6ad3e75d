/* Questions about the user's history: what is reached from where. */
#ifndef GIT_REACH_H
#define GIT_REACH_H

#include <stddef.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* How many commits the tips reach that `except` does not; names of objects, hexadecimal. */
int reach_count(
	const struct repo *r, const struct strvec *tips, const char *except, size_t *ret, struct err *e);

#endif
