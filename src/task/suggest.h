/* Says which task was probably meant, after a name that no task has. */
#ifndef TASK_SUGGEST_H
#define TASK_SUGGEST_H

#include "base/err.h"
#include "base/strvec.h"

/* Adds " (is 'login' meant?)" to the message if such a name is near. If only the name of a discarded task is
 * near, it says that, and the hint is the command that restores it. */
void task_suggest(
	const char *typed, const struct strvec *names, const struct strvec *discarded, struct err *e);

#endif
