/*
 * A task opened for work inside its jail. The gateway's process does that, because it can send the jail
 * orders (jail/runner.h). Every function may block.
 *
 *	inside_open(&in, task->id, orders, e);
 *	inside_ask(&in, &out, &code, e, "symbolic-ref", "-q", "HEAD", NULL);     a quick question
 *	inside_do(&in, NULL, NULL, e, "reset", "-q", "--hard", commit, NULL);    work, INSIDE_SECONDS at most
 *	inside_close(&in);
 *
 * git inside is the real git, not the shim, and runs in the workspace; GARTH_GATEWAY=1 makes the hook do
 * nothing. What it prints is a claim. out may be NULL. If ret_code is NULL, every exit code but 0 is an error
 * with git's message. A question has only a few seconds, because the agent may have replaced a file of .git
 * by a pipe.
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
	struct runner *runner; /* a submodule shares it with its task */
	struct runner own_runner;
	bool untold;        /* task.published is newer than what the store has */
	struct inside *top; /* the task's own, also of a submodule */
	/* For a submodule of the task (submodule.h), its path from the top of the workspace; else "". Then task and
	 * `at` are about the submodule: its base, its published tip, the user's repository of it. */
	const char *within;
	/* The private repository, beneath the task's directory: "git", or "sub/2/git" for a submodule. */
	const char *git_dir;
	/* Of a submodule: commits that the repository around it names, in the task's base and target. */
	struct strvec named;
	/* A pack-objects that waits for its revisions (publish/receive.h). It is dropped before a pause: a
	 * paused one would never end. */
	struct runner_piped packer;
};

/* Opens everything. If the branch is not at the commit that the store names, updates the store. The caller
 * closes orders. */
int inside_open(struct inside *in, int64_t task, int orders, struct err *e);
void inside_close(struct inside *in);
/* Reads the task's row and the configuration again. */
int inside_refresh(struct inside *in, struct err *e);

#define INSIDE_SECONDS 300
/* For commands that read all files of a large workspace. */
#define INSIDE_LONG 800

int inside_ask(struct inside *in, struct buf *out, int *ret_code, struct err *e, ...)
	__attribute__((sentinel));
int inside_do(struct inside *in, struct buf *out, int *ret_code, struct err *e, ...)
	__attribute__((sentinel));
/* The same with a list of arguments, input, and a time limit. */
int inside_git(struct inside *in, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);
/* Only the command, for a caller that starts it with its own descriptors. */
void inside_command(struct inside *in, const struct strvec *args, struct order_cmd *ret);
/* The same for another program, by its path inside. */
void inside_program_command(
	struct inside *in, const char *program, const struct strvec *args, struct order_cmd *ret);
/* Runs another program than git, found in PATH, in the workspace. The arguments end with NULL. */
int inside_program(struct inside *in, struct err *e, const char *program, ...) __attribute__((sentinel));
/* ERR_REFUSED, with the name and what to do, if git inside would wait for a file of a private repository of the task
 * (git/blocking_files.h). Called before work that takes long, whose time limit is long. */
int inside_refuse_blocking(const struct inside *in, struct err *e);
/* Makes directories in the workspace, with their parents. */
int inside_mkdirs(struct inside *in, const struct strvec *paths, struct err *e);
/* Unpacks the caller's file `pack` into the task's object store. */
int inside_unpack(struct inside *in, int pack, struct err *e);
/* Sends objects of the shared repository in, for a task that does not borrow them: those that lines "ID" reach and lines
 * "^ID" do not. */
int inside_send_objects(struct inside *in, const struct buf *revs, struct err *e);

#endif
