/* Whether another glob (base/glob.h) matches everything that a glob can match. In doubt the answer is no. */
#ifndef PLAN_WITHIN_H
#define PLAN_WITHIN_H

#include <stdbool.h>

#include "base/strvec.h"

/* Case counts, as in glob_matches_case. */
bool glob_within(const char *glob, const char *other);
/* Whether it is within one of them; an empty list has no limits. */
bool glob_within_any(const char *glob, const struct strvec *globs);

#endif
