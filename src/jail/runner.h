/*
 * A jail in which the gateway starts commands, over an order socket (jail/order.h). There are two: the task's
 * own, whose orders the keeper passes on, and the verifier's. What comes out of either is a claim: messages
 * of no sense and ids that nobody gave are passed over, descriptors that come along are closed.
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

/* A command from its start until somebody has asked for its end. */
struct runner_run {
	uint32_t id; /* 0: free */
	bool over;
	bool forgotten; /* nobody will ask */
	int status;     /* as from wait(2) */
	char why[200];  /* it was not started, for this reason; "" where it was */
};

struct runner {
	int orders; /* SEQPACKET, blocking or not; the caller's to close */
	/* Whoever the commands are run for, or -1: where that connection is closed, waiting ends with an
	 * error. */
	int caller;
	uint32_t last_id;
	uint32_t jobs; /* JOB messages that came: bit 1 << value; for whoever speaks to the keeper */
	struct runner_run runs[RUNNER_RUNS_MAX];
};

#define RUNNER_INIT(fd)                                                                                      \
	{                                                                                                    \
		.orders = (fd), .caller = -1                                                                 \
	}

/* Takes all messages that are there, without waiting; -1 and errno if the other side is gone. Waiting for a
 * command takes them as well, so `jobs` may be set by any of these functions. */
int runner_listen(struct runner *c);
/* Starts a command with these descriptors as its stdin, stdout and stderr (all three valid; open /dev/null
 * for "nothing"). They stay the caller's. Whether it could be executed is told by runner_wait. */
int runner_start(
	struct runner *c, const struct order_cmd *cmd, const int fds[3], uint32_t *ret_id, struct err *e);
/* Waits for its end and gives the exit code as a shell has it; after `seconds` it is killed and the error is
 * ERR_FAILED "took longer than …". A command that could not be executed: ERR_FAILED with its reason. */
int runner_wait(struct runner *c, uint32_t id, unsigned seconds, int *ret_code, struct err *e);
/* Whether nobody waits for the answer any more. */
bool runner_is_unwanted(const struct runner *c);
/* Its end is not asked for any more. */
void runner_kill(struct runner *c, uint32_t id);
/* Start, collect, wait. Input and outputs may be NULL; out beyond its limit is an error, what is beyond
 * errtext's is dropped. What a command's own children print after its end is not waited for. */
int runner_run(struct runner *c, const struct order_cmd *cmd, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);
/* The same with a descriptor for its stdin, which stays the caller's. */
int runner_run_from(struct runner *c, const struct order_cmd *cmd, int in, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);

/*
 * A command with pipes, which can be started ahead of its need: it then waits for its input, and nobody has
 * to wait for its start.
 */
struct runner_piped {
	uint32_t id;      /* 0: none */
	int in, out, err; /* our ends, non-blocking; -1 for those that are not wanted */
};

#define RUNNER_PIPED_INIT                                                                                    \
	{                                                                                                    \
		.in = -1, .out = -1, .err = -1                                                               \
	}

/* in is a descriptor for its stdin, which stays the caller's, or -1 for a pipe. */
int runner_start_piped(struct runner *c, const struct order_cmd *cmd, int in, bool out, bool err,
	struct runner_piped *ret, struct err *e);
/* Whether it still waits, as far as one hears. */
bool runner_is_waiting(struct runner *c, const struct runner_piped *p);
/* As runner_run for one that was started. What comes at `from`, until its end, becomes its input (-1: nothing
 * more). out is NULL where nobody reads it, or its pipe was taken out of p. */
int runner_attend(struct runner *c, struct runner_piped *p, int from, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e);
/* Ends it. */
void runner_drop_piped(struct runner *c, struct runner_piped *p);

#endif
