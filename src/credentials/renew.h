/*
 * Renews a log-in once for all tasks and for the user.
 *
 * A refresh token can be used once, and a second use ends the whole log-in. So a task has a dummy, and its request comes
 * here. A separate process, which may block, locks the directory of the user's log-in file and reads the file again. If
 * somebody has renewed the log-in meanwhile, the tokens of the file are the answer. If not, the request goes to the service
 * with the real token, and the service's answer is written to the user's file, each value in its place, before anybody gets
 * it. The task's answer has dummies of the new tokens.
 *
 * Codex and Gemini CLI have no lock: outside, one of them may renew, or the user may log in, while the service answers. So the
 * file is read again before it is written, and after a refusal. If it has a new token by then, that one is kept, and is the
 * answer.
 *
 * The service's `renews` maps its answer to the log-in file. "ANSWER=MEMBER" names a member of the answer and its place in
 * the file. It is a secret, except for "scope". Other names:
 *
 *	now=MEMBER     the time of renewing, as text
 *	until=MEMBER   when the access token ends, in milliseconds since 1970; the answer has seconds, "expires_in"
 *	lock=SUFFIX    the agent itself has a lock while it renews: a directory named as that of the file, and SUFFIX
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
#define RENEW_NOW      "now"
#define RENEW_UNTIL    "until"
#define RENEW_LOCK     "lock"
#define RENEW_SCOPE    "scope"
#define RENEW_TOKEN    "refresh_token"
#define RENEW_LASTS    "expires_in"
#define RENEW_ACCESS   "access_token"
/* If the token in the user's file is valid for more seconds than this, it is not renewed. */
#define RENEW_LASTING 300
/* How long Garth waits for an agent outside that has no lock and has just used the same token, until it has written its file. */
#define RENEW_OTHER_MS 2000
/* An agent's lock that is older was left behind by a killed process. */
#define RENEW_STALE_SECONDS 60

/* Called when the request is complete. Starts the process, or passes the request on if it has none of our dummies. */
void renew_begin(struct conn *c);
/* The process has written something, or ended. */
void renew_readable(struct conn *c);
void renew_release(struct conn *c);

/* The process itself: a job on its stdin, an answer on its stdout. */
int renew_main(struct err *e);

#endif
