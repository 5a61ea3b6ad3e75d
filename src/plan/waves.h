/* Sorts stages into waves, to show people before a run what can run together. It assumes that all stages take equally long. */
#ifndef PLAN_WAVES_H
#define PLAN_WAVES_H

#include "plan/plan.h"

/* Sets ret[i] to the wave of stage i, from 0; ret has p->nstages places. Returns the number of waves. A stage is in a later
 * wave than its dependencies, and in another wave than stages that may change the same files. */
size_t plan_waves(const struct plan *p, size_t *ret);

#endif
