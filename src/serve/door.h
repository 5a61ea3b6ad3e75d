/*
 * What every request has to pass before anybody looks at what it asks for (O1): it was sent to this server by
 * its own name, so that a name that leads here for a moment (DNS rebinding) opens nothing; by no page of
 * another server's; with the token; to be read, and nothing else.
 */
#ifndef SERVE_DOOR_H
#define SERVE_DOOR_H

#include "serve/token.h"

struct door {
	struct token token;
	unsigned port;
};

/* Headers that are absent are NULL. */
struct caller {
	const char *method, *host, *origin, *authorization;
};

/* Why not, as the answer has it: {"error": {"code", "message"}}. */
struct denial {
	int status; /* of HTTP */
	const char *code;
	char message[256];
};
/* Fills it; -1. */
int deny(struct denial *d, int status, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Headers that decide: with two of one kind, two readers may believe different ones. */
extern const char *const door_once[];

/* Whether the request has the one form that has one meaning: a path as its target, not a whole URL (which
 * names a host of its own), and no deciding header twice (`repeated` is its name, or NULL). 0, or -1 and 400.
 */
int door_form(const char *target, const char *repeated, struct denial *why);
/* 0, or -1 and why: 403 host or origin, 401 token, 405 method. */
int door_check(const struct door *d, const struct caller *c, struct denial *why);

#endif
