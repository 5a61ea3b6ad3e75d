/* Tells the user which uncommitted changes of the checkout a new task does not have. */
#ifndef CLI_CHECKOUT_CHANGES_H
#define CLI_CHECKOUT_CHANGES_H

#include "base/buf.h"
#include "runtime/left_behind.h"
#include "task/task.h"

/* That there are some, how many, and how to copy them; `included` are files that the task has all the same. Waits for
 * the search (runtime/left_behind.h). */
void checkout_changes_tell(struct left_behind *w, const struct task *t, const struct strvec *included);

/* Warns if the checkout's .garth.yaml is not the committed one: `committed` is that one's text, empty if there is
 * none. */
void checkout_settings_tell(const char *top, const struct buf *committed);

#endif
