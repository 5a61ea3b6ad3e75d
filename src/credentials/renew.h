/*
 * Renews a log-in once for all tasks and for the user.
 *
 * A refresh token can be used once, and a second use ends the whole log-in. So a task has a dummy, and its request
 * comes here. A separate process, which may block, does these steps: it locks the directory of the user's log-in file
 * and reads the file again. If somebody renewed it meanwhile, its tokens are the answer. If not, the request goes to
 * the service with the real token, and the service's answer is written to the user's file, each value in its place,
 * before anybody gets it. The task is answered with dummies of the new tokens.
 */
#ifndef CREDENTIALS_RENEW_H
#define CREDENTIALS_RENEW_H

#include "base/err.h"
#include "credentials/server.h"

#define RENEW_MAX      (1u << 20)
#define RENEW_BODY_MAX (64u << 10)
#define RENEW_LOCK_MS  90000
#define RENEW_SECONDS  60L
#define RENEW_ARGUMENT "--renew"
#define RENEW_STAMP    "now" /* in `renews`, for an ANSWER: the time of renewing, as text */

/* The request is complete: starts the process, or passes the request on if it has none of our dummies. */
void renew_begin(struct conn *c);
/* The process has written something, or ended. */
void renew_readable(struct conn *c);
void renew_release(struct conn *c);

/* The process itself: a job on its stdin, an answer on its stdout. */
int renew_main(struct err *e);

#endif
