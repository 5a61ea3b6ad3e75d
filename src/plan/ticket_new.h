/*
 * Checks a request for a ticket, and adds the ticket. Whoever asks is hostile: only keys and values of one table are taken,
 * their lengths are limited, and nothing may be more than the task itself has. How many tickets there may be is decided in
 * the transaction that adds one, so requests that race cannot have more.
 */
#ifndef PLAN_TICKET_NEW_H
#define PLAN_TICKET_NEW_H

#include <jansson.h>

#include "plan/tickets.h"

#define TICKET_TITLE_MAX  200
#define TICKET_PROMPT_MAX (64u << 10)
#define TICKET_LINE_MAX   4096 /* a command, a path */
#define TICKET_LIST_MAX   64

/* What a request may not exceed: the task's own. */
struct ticket_limits {
	const struct config *config; /* with the task's own layers */
	const char *agent;           /* the task's, or the user's default; NULL: there is none */
	struct strvec submodules;    /* that the task has */
	uint64_t timeout;            /* of the task's own command, seconds; 0: none */
};

/* The text of a request as a stage without an id. ERR_USAGE: malformed; ERR_REFUSED: more than the task has. Looks at nothing
 * but its arguments. */
int ticket_check(const json_t *in, const struct ticket_limits *l, json_t **ret, struct err *e);

/* ERR_REFUSED if the task may not have tickets, or no more; ERR_CONFLICT, with the files in *ret_files, if it has work that is
 * not published. Otherwise *ret is the number of the new ticket in t->all. */
int ticket_new(struct tickets *t, const json_t *in, struct strvec *ret_files, size_t *ret, struct err *e);

#endif
