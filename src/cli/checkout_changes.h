/* Uncommitted changes of the checkout that a task is started from. A task starts from a commit, so it does
 * not have them, unless the user asks for it (--with-changes). */
#ifndef CLI_CHECKOUT_CHANGES_H
#define CLI_CHECKOUT_CHANGES_H

#include "base/buf.h"
#include "sys/worker.h"
#include "task/task.h"

/* git looks for them in a child process while the workspace is made:
 *
 *	auto_checkout_changes changes = CHECKOUT_CHANGES_INIT;
 *	checkout_changes_watch(&changes, &spec);
 *	task_create(c, &spec, &t, e);
 *	checkout_changes_tell(&changes, &t, &none);
 */
struct checkout_changes {
	const char *dir;
	const struct repo *repo; /* while the search is started */
	int answer;              /* a file in memory */
	struct worker git;
};
#define CHECKOUT_CHANGES_INIT                                                                                \
	{                                                                                                    \
		.answer = -1, .git = WORKER_INIT                                                             \
	}

/* Lets task_create start the search as soon as it has checked the repository around spec->dir. Both must live
 * until task_create returns. */
void checkout_changes_watch(struct checkout_changes *w, struct task_spec *spec);
/* Tells the user that there are some, how many, and how to copy them; `included` are files that the task has all the
 * same. Prints nothing if git fails. */
void checkout_changes_tell(struct checkout_changes *w, const struct task *t, const struct strvec *included);
void checkout_changes_release(struct checkout_changes *w);
#define auto_checkout_changes __attribute__((cleanup(checkout_changes_release))) struct checkout_changes

/* Warns if the checkout's .garth.yaml is not the committed one: `committed` is that one's text, empty if there is
 * none. */
void checkout_settings_tell(const char *top, const struct buf *committed);

#endif
