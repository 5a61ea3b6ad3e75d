/*
 * Checks, before a task is made, that its command exists where the task will look for it. Only what a new task
 * certainly does not have is refused; nothing is run.
 *
 *	program_check(c, &(struct program_place){ … }, "claude", e)      ERR_PROGRAM, and what to do about it
 */
#ifndef TASK_PROGRAM_H
#define TASK_PROGRAM_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"

/* Where the command is going to start. */
struct program_place {
	const struct repo *repo; /* its base is repo->commit; NULL: a task without a repository */
	const char *cwd;         /* relative to the workspace (directory.h) */
	bool uncommitted;        /* the task also gets the checkout's uncommitted files */
	bool is_agent;           /* an agent's program is shown wherever it is (also.h) */
};

/* A name without a slash is searched in PATH, among the directories that the walls show (walls_shown.c,
 * jail.tools, jail.allow_read). A program that only the host has is refused with the line of configuration that
 * shows it. A path in the project is looked up in the base commit. */
int program_check(const struct context *c, const struct program_place *p, const char *program, struct err *e);
/* Whether a name without a slash is a program that every task is shown. */
bool program_is_shown(const struct context *c, const char *name);

/* The program that a name stands for outside: the first in PATH, or the absolute path itself; on the heap. NULL if
 * there is none. */
char *program_find(const char *program);
/* Whether the walls show every task this path of the host; its links are not followed. */
bool program_path_is_shown(const struct context *c, const char *path);
/* The line of configuration that shows the directory of a hidden program, or the program alone; on the heap. NULL:
 * none can. */
char *program_line_for(const struct context *c, const char *hidden);

#endif
