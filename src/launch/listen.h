/* Opens sockets that listen inside the jail and are served from outside. */
#ifndef LAUNCH_LISTEN_H
#define LAUNCH_LISTEN_H

#include <stddef.h>
#include <stdint.h>

/* On 127.0.0.1; -1 and errno. */
int listen_v4(uint16_t port);
/* On 127.0.0.1, and on ::1 if there is IPv6. Returns how many sockets it opened, or -1 and errno. */
int listen_both(uint16_t port, int fds[2]);

#endif
