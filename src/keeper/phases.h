/*
 * The phases of a keeper (enum phase in state.h): it enters the jail, is open, closes, ends everything
 * inside, ends the run, and leaves.
 */
#ifndef KEEPER_PHASES_H
#define KEEPER_PHASES_H

#include "base/err.h"

struct client;
struct keeper;

void phase_start(struct keeper *k);
/* The jail's first process exists. Waiting commands are ordered now; the orders stay in its socket until it
 * has entered the jail. */
void phase_born(struct keeper *k);
void phase_ready(struct keeper *k);
/* The jail could not be entered. */
void phase_fail(struct keeper *k, const struct err *why);
/* The main command has ended: the gateway publishes, then phase_end. */
void phase_close(struct keeper *k, int exit_code);
/* Kills everything inside. The rest follows when it is dead. */
void phase_end(struct keeper *k, int exit_code);
void phase_cancel(struct keeper *k);
/* The phase's time is over. */
void phase_late(struct keeper *k);
/* Reaps dead children and does what follows from their end. */
void phase_reap(struct keeper *k);
/* A command has ended or a client has left: ends the keeper if it is no longer needed. */
void phase_check(struct keeper *k, int last_code);

/* Tells one client, or all (NULL), that the task is paused, if it is. */
void phase_tell(struct keeper *k, struct client *c);
/* Sends a note to every client that has a command. */
void phase_note(const struct keeper *k, const char *text);
/* Sends a note to the clients of the main command, or to all if there is none. */
void phase_note_main(const struct keeper *k, const char *text);

#endif
