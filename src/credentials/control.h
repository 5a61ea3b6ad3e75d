/*
 * How the keeper speaks with garth-credentials: a SOCK_SEQPACKET socket, on this descriptor there. Each message is
 * one byte with descriptors: first a file in memory with a packed table (vault.h), then, in the first message, the
 * listening sockets. The process ends when the socket does.
 */
#ifndef CREDENTIALS_CONTROL_H
#define CREDENTIALS_CONTROL_H

#define CREDENTIALS_CONTROL_FD 3
#define CREDENTIALS_PROGRAM    "garth-credentials"
/* The port inside on which it listens. */
#define CREDENTIALS_PORT 43129

#endif
