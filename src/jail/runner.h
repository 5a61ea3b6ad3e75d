/*
 * Starts commands in a jail from outside, over an order socket (jail/order.h). The gateway uses two: the
 * task's own jail, to which the keeper forwards the orders, and the verifier's. Messages from a jail are not
 * trusted: those that make no sense or have an unknown id are ignored, and descriptors that come with them
 * are closed.
 *
 *	struct runner c = RUNNER_INIT(orders);
 *	runner_start(&c, &cmd, fds, &id, e);
 *	runner_wait(&c, id, 60, &code, e);      or runner_kill(&c, id)
 */
#ifndef JAIL_RUNNER_H
#define JAIL_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "jail/order.h"

#define RUNNER_RUNS_MAX 16

/* A command, from its start until its end was asked for. */
struct runner_run {
	uint32_t id; /* 0: free */
	bool over;
	bool forgotten; /* nobody will ask for its end */
	int status;     /* as from wait(2) */
	char why[200];  /* why it was not started; "" if it was */
};

struct runner {
	int orders; /* SEQPACKET, blocking or not; the caller closes it */
	/* The connection for which the commands run, or -1. If the peer closes it, waiting ends with an
	 * error. */
	int caller;
	uint32_t last_id;
	uint32_t jobs; /* JOB messages received: bit 1 << value; only in the gateway */
	struct runner_run runs[RUNNER_RUNS_MAX];
};

#define RUNNER_INIT(fd)                                                                                      \
	{                                                                                                    \
		.orders = (fd), .caller = -1                                                                 \
	}

/* Takes all messages that are there, without blocking; -1 and errno if the other side is gone. Waiting for a
 * command takes messages too, so any of these functions may set `jobs`. */
int runner_listen(struct runner *c);
/* Starts a command with these descriptors as its stdin, stdout and stderr. All three must be valid (open
 * /dev/null for "nothing"); the caller still closes them. runner_wait reports if it could not be executed. */
int runner_start(
	struct runner *c, const struct order_cmd *cmd, const int fds[3], uint32_t *ret_id, struct err *e);
/* Blocks until the command ends and returns its exit code as a shell does. After `seconds` it is killed, and
 * the error is ERR_FAILED "took longer than …". ERR_FAILED with the reason if it could not be executed. */
int runner_wait(struct runner *c, uint32_t id, unsigned seconds, int *ret_code, struct err *e);
/* Whether the caller's connection is closed, so that nobody waits for the result. */
bool runner_is_unwanted(const struct runner *c);
/* Kills a command. Its end cannot be asked for afterwards. */
void runner_kill(struct runner *c, uint32_t id);
/* Runs a command to its end. Input and outputs may be NULL. More output than `out` holds is an error; more
 * than `errtext` holds is dropped. What the command's children print after its end is not waited for. */
int runner_run(struct runner *c, const struct order_cmd *cmd, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);
/* The same with a descriptor for its stdin, which the caller closes. */
int runner_run_from(struct runner *c, const struct order_cmd *cmd, int in, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);

/*
 * A command with pipes. It can be started before it is needed: it then waits for its input, and later nobody
 * has to wait for its start.
 */
struct runner_piped {
	uint32_t id;      /* 0: none */
	int in, out, err; /* our ends, non-blocking; -1 for those that do not exist */
};

#define RUNNER_PIPED_INIT                                                                                    \
	{                                                                                                    \
		.in = -1, .out = -1, .err = -1                                                               \
	}

/* `in` is a descriptor for its stdin, which the caller closes, or -1 for a pipe. `out` and `err` ask for
 * pipes. */
int runner_start_piped(struct runner *c, const struct order_cmd *cmd, int in, bool out, bool err,
	struct runner_piped *ret, struct err *e);
/* Whether it still runs, as far as messages have told. */
bool runner_is_waiting(struct runner *c, const struct runner_piped *p);
/* Like runner_run for a command that was started with runner_start_piped. Everything from `from` becomes its
 * input (-1: no more input). out is NULL if nobody reads it, or if the caller took its pipe out of p. */
int runner_attend(struct runner *c, struct runner_piped *p, int from, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e);
/* Kills the command and closes the pipes. */
void runner_drop_piped(struct runner *c, struct runner_piped *p);

#endif
