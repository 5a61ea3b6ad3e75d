/*
 * The jail's life: entered, open, closing, dying, ending, left (enum phase in state.h); cancel, and every way to
 * end.
 */
#ifndef KEEPER_LIFE_H
#define KEEPER_LIFE_H

#include "base/err.h"

struct client;
struct keeper;

void life_start(struct keeper *k);
/* There is a first process. Commands that wait are ordered already: they stay in its socket until it has
 * entered. */
void life_born(struct keeper *k);
void life_ready(struct keeper *k);
/* The jail could not be entered. */
void life_fail(struct keeper *k, const struct err *why);
/* The main command has ended: the gateway does its part, then life_end. */
void life_close(struct keeper *k, int exit_code);
/* Kills everything inside; the rest follows from its death. */
void life_end(struct keeper *k, int exit_code);
void life_cancel(struct keeper *k);
/* The deadline of the phase is over. */
void life_late(struct keeper *k);
/* Waits for children that are dead and draws the conclusion. */
void life_reap(struct keeper *k);
/* A command ended or a client left: ends the keeper if it has no purpose any more. */
void life_check(struct keeper *k, int last_code);

/* Tells one client, or all (NULL), that the task is paused, if it is. */
void life_tell(struct keeper *k, struct client *c);
/* Sends a note to every client that has a command. */
void life_note(const struct keeper *k, const char *text);
/* Sends a note to the clients of the main command, or to all if there is none. */
void life_note_main(const struct keeper *k, const char *text);

#endif
