/*
 * Unix sockets in directories whose paths may be longer than an address can hold, and descriptors passed
 * over them.
 */
#ifndef SYS_SOCK_H
#define SYS_SOCK_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* A listening stream socket at dir/name; what stood there is replaced. Non-blocking, close-on-exec. */
int sock_listen(int dir, const char *name, int *ret_fd, struct err *e);
/* ERR_NOTFOUND where nobody listens. */
int sock_connect(int dir, const char *name, int *ret_fd, struct err *e);
/* The effective uid at the other end, or (uid_t)-1. */
uid_t sock_peer(int fd);

/* One message with up to 4 descriptors; -1 and errno. */
int sock_send(int fd, const void *data, size_t len, const int *fds, size_t nfds);
/* The number of bytes, 0 at the end, -1 and errno. *nfds is how many fit into fds, then how many came; they
 * are close-on-exec and the caller's to close. */
ssize_t sock_recv(int fd, void *data, size_t len, int *fds, size_t *nfds);

#endif
