/*
 * The API on 127.0.0.1: HTTP/1.1 and JSON (libevent's evhttp). Each request passes the checks of access.h, names a
 * command (routes.h), and is answered with what that command prints, so that the answers are the commands'
 * own. What a command refuses keeps its JSON, with the fitting status.
 *
 * Limits: those of http/guard.h, API_BODY_MAX for a body, API_RUNNING_MAX commands at once (more wait),
 * API_ANSWER_MAX and API_ANSWER_SECONDS for a command's answer.
 */
#ifndef SERVE_API_H
#define SERVE_API_H

#include <event2/event.h>

#include "base/err.h"
#include "serve/access.h"

#define API_BODY_MAX       (1u << 20)
#define API_RUNNING_MAX    4
#define API_ANSWER_MAX     (32u << 20)
#define API_ANSWER_SECONDS 60

struct api;

/* A socket that listens on a port of 127.0.0.1; 0: any free one. ERR_BUSY where it is taken. */
int api_listen(unsigned port, int *ret_fd, unsigned *ret_port, struct err *e);
/* Answers on it for as long as the loop runs. The descriptor is the API's from then on. */
int api_open(struct event_base *base, int fd, const struct access *d, struct api **ret, struct err *e);
/* Ends what runs; those who wait get no answer. NULL is fine. */
void api_close(struct api *a);

#endif
