/*
 * A refusal: why the gateway says no, in a form that an agent can act on. It is sent as JSON to the inside,
 * where the shim and the hook print
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
	char code[40]; /* "protected_path"; "": nothing was refused */
	char message[400];
	char path[400];     /* the path in question, "" for none; the agent's bytes */
	char boundary[200]; /* the limit or rule, "" for none */
	char tried[300], instead[300];
	bool recorded; /* it is in the audit log already */
};

/* Fills the refusal, sets e to ERR_REFUSED with the message, and returns -1. Call refusal_say after it, or
 * fill tried and instead. */
int refuse(struct refusal *r, struct err *e, const char *code, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Sets the two lines of advice and returns -1. */
int refusal_say(struct refusal *r, const char *tried, const char *instead);

#endif
