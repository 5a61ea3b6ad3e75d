/*
 * Why the gateway says no, in a form that an agent can act upon. It travels as JSON to the inside, where the
 * shim and the hook print it as
 *
 *	BLOCKED: <message>
 *	You tried to: <tried>
 *	Instead, you should: <instead>
 */
#ifndef PUBLISH_REFUSAL_H
#define PUBLISH_REFUSAL_H

#include <stdbool.h>

#include "base/err.h"

struct refusal {
	char code[40]; /* "protected_path"; "" where nothing was refused */
	char message[400];
	char path[400];     /* what it was about, "" for nothing; the agent's bytes */
	char boundary[200]; /* the limit or rule, "" for none */
	char tried[300], instead[300];
	bool recorded; /* it is in the audit log */
};

/* Fills it and sets e to ERR_REFUSED with the message; -1. tried and instead are filled by the caller
 * after, or by refusal_say. */
int refuse(struct refusal *r, struct err *e, const char *code, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* The two lines of advice; -1, as refuse. */
int refusal_say(struct refusal *r, const char *tried, const char *instead);

#endif
