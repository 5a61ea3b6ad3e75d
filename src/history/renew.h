/* Refs that moved outside show their new values inside (G12), and those that are gone outside are removed:
 * git inside does it. Objects come along where the task does not borrow them. It is done whenever refs change
 * outside while a task runs, and when a task is started that was at rest meanwhile. */
#ifndef HISTORY_RENEW_H
#define HISTORY_RENEW_H

#include "base/err.h"
#include "inside/inside.h"

int renew_shown(struct inside *in, struct err *e);

#endif
