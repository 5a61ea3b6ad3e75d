/*
 * Pauses everything inside: with a control group's freezer, or else with SIGSTOP, which is repeated. Commands
 * that start during the pause run.
 */
#ifndef KEEPER_PAUSE_H
#define KEEPER_PAUSE_H

#include <stdbool.h>

struct keeper;

/* Pauses, and tells all clients why. */
void pause_all(struct keeper *k, const char *why);
/* Resumes without telling clients, because the task is about to end. Returns whether it was paused. */
bool pause_lift(struct keeper *k);
/* Resumes. */
void pause_over(struct keeper *k);

#endif
