/*
 * The user's end of a command in a task: a connection to the task's keeper (keeper/wire.h) joined with this
 * process' stdin, stdout and stderr, and with its terminal where the command has one.
 *
 *	wire_send(conn, WIRE_EXEC, …) or WIRE_ATTACH; nothing after keeper_start with a main command
 *	terminal_session(conn, &opts, &result, e)
 *
 * During a session, signals are passed on to the command: with pipes INT, QUIT, TERM, HUP, USR1 and USR2;
 * with a terminal the same but HUP, by which the terminal says that it is gone. The terminal is put back into
 * the state it was in before terminal_session returns, whatever happened.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

#include "base/err.h"
#include "keeper/wire.h"

#define TERMINAL_DETACH_KEYS "Ctrl-] d"

struct terminal_opts {
	bool can_detach; /* Ctrl-] d leaves a terminal (Ctrl-] twice is Ctrl-] itself), and so does a hang-up
			  */
	bool detach_at_once; /* leave as soon as the command has started (run -d) */
	bool silent;         /* nothing is read from stdin, and what the command writes is thrown away */
};

enum terminal_end {
	TERMINAL_EXIT,     /* the command ended: exit_code */
	TERMINAL_DETACHED, /* it goes on without us */
	TERMINAL_GONE,     /* the keeper was leaving and did nothing: connect again, or start a keeper */
};

struct terminal_result {
	enum terminal_end end;
	int exit_code; /* as a shell gives it */
};

/* -1 and *e where the command could not be started (what the keeper said) or the keeper is gone. conn stays
 * the caller's; closing it hangs up on a command that the connection started by EXEC. */
int terminal_session(int conn, const struct terminal_opts *o, struct terminal_result *ret, struct err *e);

/* The size of the terminal on stdin, stdout or stderr; 24 x 80 and -1 where there is none. */
int terminal_size(struct wire_size *s);

/* Opens /dev/null on those of 0, 1 and 2 that are closed, so that nothing else gets these numbers. First
 * thing in main. */
void terminal_fill_std(void);

#endif
