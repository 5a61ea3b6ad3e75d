/*
 * Commands that take several tasks: the same is done with each, in the order given.
 *
 *	static int pause_one(struct context *c, struct task *t, void *data, json_t **ret, struct err *e);
 *	const struct each_task m = { .one = pause_one, .data = &o, .json = json };
 *	return each_task_run(&m, argv, l.words);
 *
 * Each task has its own message. A task with which it fails does not stop the others, unless `in_order` is
 * set. The exit code is that of the first failure.
 *
 * With --json, one task answers with its own object or error. Several answer with {"tasks": [those objects],
 * "errors": [{"task", "error", …}], "skipped": [names that were not tried]}.
 */
#ifndef CLI_EACH_TASK_H
#define CLI_EACH_TASK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

struct each_task {
	/* Does it with one task and says that it is done. Sets *ret to the answer for --json or, if it fails,
	 * to members that belong beside the error; NULL for none. */
	int (*one)(struct context *c, struct task *t, void *data, json_t **ret, struct err *e);
	void *data;
	const char *done; /* with in_order: "merged", for the message about the rest */
	bool in_order;    /* stop at the first failure */
	bool batch;       /* one `garth undo` takes all of it back */
	bool json;
};

/* Returns the exit code. A name that was given twice is taken once. */
int each_task_run(const struct each_task *m, char **names, int n);

#endif
