/*
 * Checks that every request must pass before its path is looked at (O1). The Host header must name this
 * server, so that DNS rebinding does not work; the request must not come from another site's page; it must
 * have the token; and it must only read.
 */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include "serve/token.h"

struct access {
	struct token token;
	unsigned port;
};

/* NULL: the header is absent. */
struct caller {
	const char *method, *host, *origin, *authorization;
	bool any_method; /* the path takes others than GET, and says itself which */
};

/* Why a request is refused; the answer is {"error": {"code", "message"}}. */
struct denial {
	int status; /* HTTP status */
	const char *code;
	char message[256];
};
/* Fills *d and returns -1. */
int deny(struct denial *d, int status, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Headers that may appear only once: of two, different programs may use different ones. */
extern const char *const access_once[];

/* Checks that the request has only one meaning: its target is a path, not a URL (which names a host itself),
 * and none of access_once is repeated (`repeated` is the name of one that is, or NULL). 0, or -1 with 400. */
int access_form(const char *target, const char *repeated, struct denial *why);
/* Checks a header's name: 0, or -1 with 400 if it has a blank or another character that names do not have. "Host :" is a
 * Host header to some programs, and to others it is not. */
int access_name(const char *name, struct denial *why);
/* 0, or -1 with *why: 403 host or origin, 401 token, 405 method. */
int access_check(const struct access *d, const struct caller *c, struct denial *why);

#endif
