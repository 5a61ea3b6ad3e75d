/*
 * Tickets in the store: tasks that an agent asks for at run time. All tickets of a task are one row of `plan`, and each is
 * a row of `stage` (store/plan.h). A ticket also has the request, as JSON, and the commit that the task that asked for it
 * sees as its result.
 *
 *	store_begin(s, e)
 *	store_tickets_make(s, task, &set, e)         finds the row, or makes it
 *	…                                            look how many there are, and decide
 *	store_ticket_add(s, &set, &row, asked, e)
 *	store_commit(s, e)
 *
 * A decision between begin and commit is safe: nobody else writes meanwhile.
 */
#ifndef STORE_TICKET_H
#define STORE_TICKET_H

#include "base/strvec.h"
#include "store/plan.h"

/* ERR_NOTFOUND if the task has none. */
int store_tickets_of(struct store *s, int64_t task, struct plan_row *ret, struct err *e);
/* Call both between store_begin and store_commit. */
int store_tickets_make(struct store *s, const struct task *t, struct plan_row *ret, struct err *e);
int store_ticket_add(struct store *s, const struct plan_row *set, const struct stage_row *r,
	const char *asked, struct err *e);
/* The request of each ticket, in their order. */
int store_tickets_asked(struct store *s, int64_t set, struct strvec *ret, struct err *e);

/* Stores which run of the task ends to wait for its tickets; 0: none. */
int store_tickets_set_waits(struct store *s, int64_t set, int64_t run, struct err *e);
/* The commit that the task sees as the ticket's result; "" if it sees none. */
int store_ticket_shown(struct store *s, int64_t ticket, char **ret, struct err *e);
int store_ticket_set_shown(struct store *s, int64_t ticket, const char *commit, struct err *e);

/* Whether the user has cancelled it, so that the task that asked cannot try it again. */
int store_ticket_withdrawn(struct store *s, int64_t ticket, bool *ret, struct err *e);
int store_ticket_set_withdrawn(struct store *s, int64_t ticket, bool withdrawn, struct err *e);

/* If this task belongs to a ticket: the task that asked for it; else 0. */
int store_ticket_parent(struct store *s, int64_t task, int64_t *ret, struct err *e);
/* Gives a finished ticket this final state, unless somebody else has changed it meanwhile. merged: the commit with which
 * its task has merged it, or "". */
int store_ticket_over(
	struct store *s, const struct stage_row *r, const char *state, const char *merged, struct err *e);

#endif
