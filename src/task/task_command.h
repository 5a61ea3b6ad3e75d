/*
 * The command that a task ran, with its options, so that it can be resumed. It is stored in tasks/<id>/command, as
 * JSON. Tasks of earlier versions have the file under the name `again`: it is read, and the next save replaces it.
 *
 * How the words of a command line are made of it: command_words.h.
 */
#ifndef TASK_TASK_COMMAND_H
#define TASK_TASK_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"

/* The largest file, in bytes. */
#define TASK_COMMAND_MAX (1u << 20)

struct task_command {
	struct strvec argv;   /* as the user gave it, {session} not replaced */
	bool literal;         /* {session} in it is no placeholder */
	struct strvec resume; /* the command that resumes it, from the task file; empty if that has none */
	struct strvec env;    /* as for -e: NAME, or NAME=VALUE */
	struct strvec
		kept; /* NAME=VALUE of the first run's shell, for a later one that has no such variable */
	char *agent;  /* NULL for none */
	struct strvec ports; /* numbers */
	uint64_t timeout;    /* seconds; 0: none */
	bool weaker;         /* --allow-weaker */
	char *push;          /* the remote's branch to push to when done; NULL: none */
	char *cwd;           /* where it starts, relative to the workspace; "" is its top directory */
};

void task_command_release(struct task_command *cmd);
#define auto_task_command __attribute__((cleanup(task_command_release))) struct task_command

int task_command_save(int task_dir, const struct task_command *cmd, struct err *e);
/* ERR_NOTFOUND if the task has never run. */
int task_command_load(int task_dir, struct task_command *ret, struct err *e);

#endif
