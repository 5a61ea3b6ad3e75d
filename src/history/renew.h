/* Brings the refs that a task is shown up to date (G12): git inside moves those that moved outside and
 * removes those that are gone. If the task does not borrow objects, the new ones are sent in too. Called when
 * refs change outside while a task runs, and when a stopped task is started. Blocks. */
#ifndef HISTORY_RENEW_H
#define HISTORY_RENEW_H

#include "base/err.h"
#include "inside/inside.h"

int renew_shown(struct inside *in, struct err *e);

#endif
