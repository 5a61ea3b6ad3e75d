/* Whether all that a glob can match is also matched by another one (base/glob.h). In doubt it is not. */
#ifndef PLAN_WITHIN_H
#define PLAN_WITHIN_H

#include <stdbool.h>

#include "base/strvec.h"

/* Case counts, as in glob_matches_case. */
bool glob_within(const char *glob, const char *other);
/* Within one of them; an empty list has no limits. */
bool glob_within_any(const char *glob, const struct strvec *globs);

#endif
