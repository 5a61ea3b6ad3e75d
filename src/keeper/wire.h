/*
 * The protocol between a `garth` command and a task's keeper, on the task's control socket: frames with a
 * type, a length and that many bytes. Both ends are the user's own processes; the bytes in OUT and ERR are
 * the agent's.
 *
 * A client first sends EXEC (start a command in the task), ATTACH (to the main command), CANCEL, PORT or
 * FORWARD. After EXEC and ATTACH the connection transports that command's streams until EXIT or FAIL:
 *
 *	client: STDIN, STDIN_END, RESIZE, SIGNAL, CLOSE_OUT, DETACH
 *	keeper: STARTED, OUT, ERR, WINDOW, NOTE, REFUSED, EXIT, FAIL
 *
 * A client sends at most WIRE_WINDOW_BYTES of STDIN that no WINDOW has confirmed. So a command that does not
 * read its input cannot hold up the signals behind it.
 *
 * If a command is not found or cannot be executed, the client gets ERR with the message and EXIT 127 or 126,
 * as from a shell. FAIL means that there is no command, or no jail to run it in. If the connection ends (end
 * of file or ECONNRESET) before any frame, the keeper was leaving and has done nothing: try again.
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
	WIRE_DETACH,    /* nothing: the command continues without this client */
	WIRE_STARTED,   /* struct wire_started */
	WIRE_OUT,       /* bytes */
	WIRE_ERR,       /* bytes */
	WIRE_WINDOW,    /* uint32: so many bytes of STDIN were read */
	WIRE_EXIT,      /* int32: exit code, as a shell's $? */
	WIRE_FAIL,      /* struct err */
	WIRE_PORT,      /* uint32: a port inside to open on the host; the answer is the host's port */
	WIRE_NOTE,      /* text for the user about the task as a whole */
	WIRE_FORWARD,   /* uint32: a port of the host to forward to the inside; the answer is the same port */
	WIRE_REFUSED,   /* text for the user: a host that the task did not reach, and what allows it */
	WIRE_CREDENTIALS, /* a packed table (credentials/vault.h) for the credentials proxy */
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
#define WIRE_NOTE_MAX     1000u       /* of NOTE and REFUSED */
#define WIRE_FRAME_MAX    (4u << 20)  /* of EXEC and CREDENTIALS */

/* Whether a header is well-formed: a known type, and a length that fits it. */
bool wire_head_ok(const struct wire_head *h);

/* For clients: both block. wire_recv resets body and fills it with the frame's bytes. It returns 1 for a
 * frame, 0 at the end of the connection, -1 with errno (EPROTO: not a frame, or a frame cut short; EMSGSIZE:
 * larger than body can hold). */
int wire_send(int fd, enum wire_type type, const void *data, size_t len);
int wire_recv(int fd, enum wire_type *type, struct buf *body);

#endif
