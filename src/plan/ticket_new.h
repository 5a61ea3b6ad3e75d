/*
 * Checks a request for a ticket, and adds the ticket. The request is hostile: only the keys of one table are accepted,
 * lengths are limited, and a ticket can never have more than the task that asks. The number of tickets is checked in the
 * transaction that adds one, so requests that race cannot get more.
 */
#ifndef PLAN_TICKET_NEW_H
#define PLAN_TICKET_NEW_H

#include <jansson.h>

#include "plan/tickets.h"

#define TICKET_TITLE_MAX  200
#define TICKET_PROMPT_MAX (64u << 10)
#define TICKET_LINE_MAX   4096 /* a command, a path */
#define TICKET_LIST_MAX   64

/* What a request must not exceed: what the task itself has. */
struct ticket_limits {
	const struct config *config; /* with the task's own layers */
	const char *agent;           /* the task's, or the user's default; NULL: there is none */
	struct strvec submodules;    /* of the task */
	uint64_t timeout;            /* of the task's own run, seconds; 0: none */
};

/* Turns a request into a stage without an id. ERR_USAGE: malformed; ERR_REFUSED: more than the task has. A pure function. */
int ticket_check(const json_t *in, const struct ticket_limits *l, json_t **ret, struct err *e);

/* ERR_REFUSED if the task may have no tickets, or no more of them; ERR_CONFLICT, with the files in *ret_files, if the task
 * has unpublished work. On success *ret is the index of the new ticket in t->all. */
int ticket_new(struct tickets *t, const json_t *in, struct strvec *ret_files, size_t *ret, struct err *e);

#endif
