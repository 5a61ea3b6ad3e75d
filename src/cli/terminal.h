/*
 * The user's end of a command in a task: connects the task's keeper (keeper/wire.h) with this process' stdin,
 * stdout and stderr, and with its terminal if the command has one.
 *
 *	wire_send(conn, WIRE_EXEC, …) or WIRE_ATTACH; nothing after keeper_start with a main command
 *	terminal_session(conn, &opts, &result, e)
 *
 * During a session, signals are passed on to the command: without a terminal INT, QUIT, TERM, HUP, USR1 and
 * USR2; with a terminal the same without HUP, which means that the terminal is gone. terminal_session
 * restores the terminal before it returns, in every case.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/keys.h"
#include "keeper/wire.h"

struct terminal_opts {
	const struct keys *detach; /* the keys that detach; a hang-up does so too. NULL: nothing detaches */
	bool detach_at_once;       /* detach as soon as the command has started (run -d) */
	bool quiet;                /* do not tell of refused hosts */
};

enum terminal_end {
	TERMINAL_EXIT,     /* the command ended: exit_code */
	TERMINAL_DETACHED, /* it continues without us */
	TERMINAL_GONE,     /* the keeper was leaving and did nothing: connect again, or start a keeper */
};

struct terminal_result {
	enum terminal_end end;
	int exit_code; /* as a shell's $? */
	bool unseen;   /* nothing of its output was shown here */
};

/* Blocks until the command ends or the user detaches. -1 with *e: the command could not be started (with the
 * keeper's message), or the keeper is gone. The caller closes conn; that hangs up on a command that was
 * started by EXEC on it. */
int terminal_session(int conn, const struct terminal_opts *o, struct terminal_result *ret, struct err *e);

/* The size of the terminal on stdin, stdout or stderr. Without one, 24 x 80 and -1. */
int terminal_size(struct wire_size *s);

/* Opens /dev/null on those of 0, 1 and 2 that are closed, so that no other file gets these numbers. Called
 * first in main. */
void terminal_fill_std(void);

#endif
