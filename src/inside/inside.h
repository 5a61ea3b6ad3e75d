/*
 * A task, opened for work on its inside by a process that can give its jail orders (jail/runner.h): the gateway's.
 * Everything may block.
 *
 *	inside_open(&in, "fix", orders, e);
 *	inside_ask(&in, &out, &code, e, "symbolic-ref", "-q", "HEAD", NULL);     a question that takes no time
 *	inside_do(&in, NULL, NULL, e, "reset", "-q", "--hard", commit, NULL);    work
 *	inside_close(&in);
 *
 * Git inside is the real one, in the workspace, with the hook told to step aside. What it prints is a claim. out
 * may be NULL. If ret_code is NULL, any code but 0 is an error with git's words in it. A question has little time,
 * so that a pipe in the place of its configuration holds nobody up for long.
 */
#ifndef INSIDE_INSIDE_H
#define INSIDE_INSIDE_H

#include <stdbool.h>

#include "audit/audit.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/ref.h"
#include "jail/order.h"
#include "jail/runner.h"
#include "task/context.h"
#include "task/task.h"

struct inside {
	struct context context; /* opened anew in this process */
	struct task task;
	struct task_at at;
	struct audit *audit;
	struct runner runner;
	bool untold; /* the store does not know yet what task.published says */
	/* A pack-objects that waits for its revisions (publish/receive.h). It is dropped before a pause, in which it
	 * would wait for ever. */
	struct runner_piped packer;
};

/* Opens everything, and brings the store up to date if the branch is not where it says. orders stays the
 * caller's. */
int inside_open(struct inside *in, const char *task, int orders, struct err *e);
void inside_close(struct inside *in);
/* The task's row and configuration as they are now. */
int inside_refresh(struct inside *in, struct err *e);

#define INSIDE_SECONDS 300
/* For what goes over all files of a large workspace. */
#define INSIDE_LONG 800

int inside_ask(struct inside *in, struct buf *out, int *ret_code, struct err *e, ...)
	__attribute__((sentinel));
int inside_do(struct inside *in, struct buf *out, int *ret_code, struct err *e, ...)
	__attribute__((sentinel));
/* The same with a list of arguments, an input, and a time. */
int inside_git(struct inside *in, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);
/* The command for it, to be started with descriptors of one's own. */
void inside_command(struct inside *in, const struct strvec *args, struct order_cmd *ret);
/* Another program than git, found in PATH, in the workspace; its arguments up to a NULL. */
int inside_program(struct inside *in, struct err *e, const char *program, ...) __attribute__((sentinel));
/* Makes directories of the workspace, and those above them. */
int inside_mkdirs(struct inside *in, const struct strvec *paths, struct err *e);
/* The objects of a pack, read from a file of the caller's, go into its store. */
int inside_unpack(struct inside *in, int pack, struct err *e);

#endif
