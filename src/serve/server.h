/*
 * `garth serve`: answers the API (api.h) and runs the timers (timers.h) when they are due, in a child process
 * (`garth serve --once`). One server of a Garth home is the leader: it holds serve.lock, runs the timers, and
 * writes its pid and port to serve.json, which is valid while that lock is held. Another server only answers,
 * and becomes the leader when the first one ends. A server that is killed leaves nothing that disturbs the
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
	void (*ready)(void *arg, unsigned port); /* called when it listens */
	timers_tell *tell;
	void *arg;
};

/* Runs until SIGTERM, SIGINT or SIGHUP. */
int server_run(const struct server_spec *s, struct err *e);

#endif
