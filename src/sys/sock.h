/*
 * Unix sockets whose paths may be longer than a socket address can hold, and descriptors sent over them.
 */
#ifndef SYS_SOCK_H
#define SYS_SOCK_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* A listening stream socket at dir/name, which replaces what was there. Non-blocking, close-on-exec. */
int sock_listen(int dir, const char *name, int *ret_fd, struct err *e);
/* ERR_NOTFOUND if no process listens there. */
int sock_connect(int dir, const char *name, int *ret_fd, struct err *e);
/* The effective uid at the other end, or (uid_t)-1. */
uid_t sock_peer(int fd);

/* Sends one message with up to 4 descriptors; -1 and errno. */
int sock_send(int fd, const void *data, size_t len, const int *fds, size_t nfds);
/* Returns the number of bytes, 0 at the end, -1 and errno. *nfds is first the size of fds, then the number of
 * descriptors received. They are close-on-exec, and the caller closes them. */
ssize_t sock_recv(int fd, void *data, size_t len, int *fds, size_t *nfds);

#endif
