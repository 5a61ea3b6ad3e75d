/*
 * Tickets in the store: tasks that an agent asks for at run time. All tickets of a task are one row of `plan`, and each is
 * a row of `stage` (store/plan.h). Beside that a ticket has what was asked for, as JSON, and the commit under which the
 * task that asked sees its result.
 *
 *	store_begin(s, e)
 *	store_tickets_make(s, task, &set, e)         finds it, or makes it
 *	…                                            look how many there are, and decide
 *	store_ticket_add(s, &set, &row, asked, e)
 *	store_commit(s, e)
 *
 * What is decided in between holds: nobody else writes meanwhile.
 */
#ifndef STORE_TICKET_H
#define STORE_TICKET_H

#include "base/strvec.h"
#include "store/plan.h"

/* ERR_NOTFOUND if the task has none. */
int store_tickets_of(struct store *s, int64_t task, struct plan_row *ret, struct err *e);
/* Both: within store_begin and store_commit. */
int store_tickets_make(struct store *s, const struct task *t, struct plan_row *ret, struct err *e);
int store_ticket_add(struct store *s, const struct plan_row *set, const struct stage_row *r,
	const char *asked, struct err *e);
/* What was asked for with each, in their order. */
int store_tickets_asked(struct store *s, int64_t set, struct strvec *ret, struct err *e);

/* The run of the task that ends to wait for its tickets; 0: none. */
int store_tickets_set_waits(struct store *s, int64_t set, int64_t run, struct err *e);
/* The commit that the task sees; "" if it sees none. */
int store_ticket_shown(struct store *s, int64_t ticket, char **ret, struct err *e);
int store_ticket_set_shown(struct store *s, int64_t ticket, const char *commit, struct err *e);

/* Whether the user has cancelled it, so that the task that asked cannot try it again. */
int store_ticket_withdrawn(struct store *s, int64_t ticket, bool *ret, struct err *e);
int store_ticket_set_withdrawn(struct store *s, int64_t ticket, bool withdrawn, struct err *e);

/* The task that asked for the ticket whose task this is; 0: it is no ticket's. */
int store_ticket_parent(struct store *s, int64_t task, int64_t *ret, struct err *e);
/* Ends a finished ticket in this state, unless somebody else has changed it meanwhile. merged: the commit that its task has
 * merged, or "". */
int store_ticket_over(
	struct store *s, const struct stage_row *r, const char *state, const char *merged, struct err *e);

#endif
