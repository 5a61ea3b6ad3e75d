/*
 * Pausing: everything inside is frozen (by a control group) or stopped (by signals, again and again), and goes on.
 * Commands that are started meanwhile run.
 */
#ifndef KEEPER_PAUSE_H
#define KEEPER_PAUSE_H

#include <stdbool.h>

struct keeper;

/* Clients are told why. */
void pause_all(struct keeper *k, const char *why);
/* Everything goes on, and nobody is told: it is about to be ended. Whether it was paused. */
bool pause_lift(struct keeper *k);
/* Everything goes on. */
void pause_over(struct keeper *k);

#endif
