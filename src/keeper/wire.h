/*
 * What a `garth` command and a task's keeper say to each other over the task's control socket: frames with a
 * type, a length and that many bytes. Both ends are the user's own processes; the bytes inside OUT and ERR
 * are the agent's.
 *
 * A client first sends one of EXEC (start a command in the task), ATTACH (to the task's main command),
 * CANCEL, or PORT. After EXEC and ATTACH the connection carries that command's streams until EXIT or FAIL:
 *
 *	client: STDIN, STDIN_END, RESIZE, SIGNAL, CLOSE_OUT, DETACH
 *	keeper: STARTED, OUT, ERR, WINDOW, NOTE, EXIT, FAIL
 *
 * A client sends at most WIRE_WINDOW_BYTES of STDIN that no WINDOW has confirmed, so that a command that does
 * not read never blocks the signals behind its input.
 *
 * A command that is not found or cannot be executed is an ERR with the message and EXIT 127 or 126, as shells
 * do it; FAIL means that there is no command, or no jail to run it in. A connection that ends (end of file or
 * ECONNRESET) before any frame came was made while the keeper was leaving: nothing was done, try again.
 */
#ifndef KEEPER_WIRE_H
#define KEEPER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum wire_type {
	WIRE_EXEC = 1,  /* a packed struct order_cmd */
	WIRE_ATTACH,    /* struct wire_size */
	WIRE_CANCEL,    /* nothing: end the task; answered by EXIT of the main command */
	WIRE_STDIN,     /* bytes */
	WIRE_STDIN_END, /* nothing */
	WIRE_RESIZE,    /* struct wire_size */
	WIRE_SIGNAL,    /* int32: signal number */
	WIRE_CLOSE_OUT, /* int32: 1 or 2; nobody reads this stream any more */
	WIRE_DETACH,    /* nothing: the command goes on without this client */
	WIRE_STARTED,   /* struct wire_started */
	WIRE_OUT,       /* bytes */
	WIRE_ERR,       /* bytes */
	WIRE_WINDOW,    /* uint32: so many bytes of STDIN were taken */
	WIRE_EXIT,      /* int32: exit code as a shell gives it */
	WIRE_FAIL,      /* struct err */
	WIRE_PORT,      /* uint32: a port inside, to be reached from outside; answered by the one outside */
	WIRE_NOTE,      /* text for the user: what became of the task as a whole */
	WIRE_FORWARD,   /* uint32: a port of the host's, to be reached inside; answered by the same */
	WIRE_TYPES
};

struct wire_head {
	uint32_t type;
	uint32_t len;
};

struct wire_size {
	uint16_t rows, cols;
};

struct wire_started {
	uint32_t tty; /* whether the command has a terminal */
};

#define WIRE_WINDOW_BYTES (128u << 10)
#define WIRE_DATA_MAX     (64u << 10) /* of STDIN, OUT and ERR */
#define WIRE_NOTE_MAX     1000u
#define WIRE_FRAME_MAX    (4u << 20) /* of EXEC */

/* Whether a head is well-formed: a known type, and a length that fits it. */
bool wire_head_ok(const struct wire_head *h);

/* Blocking ends, for the client. wire_recv gives the frame's bytes in body (reset first); 0 at the end of the
 * connection, 1 for a frame, -1 and errno (EPROTO: not a frame, or one cut short; EMSGSIZE: more than body
 * holds). */
int wire_send(int fd, enum wire_type type, const void *data, size_t len);
int wire_recv(int fd, enum wire_type *type, struct buf *body);

#endif
