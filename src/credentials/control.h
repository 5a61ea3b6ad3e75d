/*
 * How the keeper speaks with garth-credentials: over a SOCK_SEQPACKET socket, which has this descriptor in the process.
 * Each message is one byte with descriptors. The process ends when the socket is closed.
 *
 *	CREDENTIALS_TABLE   a file in memory with a packed table (vault.h) and, in the first message, the listening sockets
 *	CREDENTIALS_OVER    a SOCK_SEQPACKET socket from which connections come: each message is a host's name, a NUL and
 *	                    what the client has sent already, with the connection (egress/hand_over.h)
 */
#ifndef CREDENTIALS_CONTROL_H
#define CREDENTIALS_CONTROL_H

#define CREDENTIALS_CONTROL_FD 3
#define CREDENTIALS_TABLE      't'
#define CREDENTIALS_OVER       'o'
#define CREDENTIALS_OVER_MAX   (48u << 10)
#define CREDENTIALS_PROGRAM    "garth-credentials"
#define CREDENTIALS_AUTHORITY  "--authority" /* authority.h */
/* The port inside on which it listens. */
#define CREDENTIALS_PORT 23129

#endif
