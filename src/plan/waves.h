/* In which waves stages would run if each wave took equally long: for people, before anything runs. */
#ifndef PLAN_WAVES_H
#define PLAN_WAVES_H

#include "plan/plan.h"

/* Sets ret[i] to the wave of stage i, from 0; ret has p->nstages places. Returns the number of waves. A stage is in a
 * later wave than all that it needs, and not in that of a stage with which it shares files. */
size_t plan_waves(const struct plan *p, size_t *ret);

#endif
