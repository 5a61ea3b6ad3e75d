/*
 * `garth serve`: the API (api.h), and a round of the timers (timers.h) whenever one is due, in a process of
 * its own (`garth serve --once`). One server of a Garth home leads: it holds serve.lock, starts the rounds,
 * and has its number and port in serve.json, to be believed while that lock is held; another one answers
 * only, and leads when the first is gone. Nothing that a server leaves when it is killed is in the way of the
 * next one.
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include <stdbool.h>

#include "base/err.h"
#include "serve/timers.h"
#include "task/context.h"

struct server_spec {
	struct context *context;
	unsigned port;                           /* 0: any free one */
	void (*ready)(void *arg, unsigned port); /* it listens */
	timers_tell *tell;
	void *arg;
};

/* Until SIGTERM, SIGINT or SIGHUP. */
int server_run(const struct server_spec *s, struct err *e);

#endif
