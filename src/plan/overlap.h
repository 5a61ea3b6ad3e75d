/* Whether two globs (base/glob.h, both from the root) could match the same path. In doubt the answer is yes. */
#ifndef PLAN_OVERLAP_H
#define PLAN_OVERLAP_H

#include <stdbool.h>

bool globs_may_meet(const char *a, const char *b);

#endif
