/* Sockets that listen inside, and are answered from outside. */
#ifndef LAUNCH_LISTEN_H
#define LAUNCH_LISTEN_H

#include <stddef.h>
#include <stdint.h>

/* At 127.0.0.1; -1 and errno. */
int listen_v4(uint16_t port);
/* At 127.0.0.1, and at ::1 where there is IPv6: how many it is, or -1 and errno. */
int listen_both(uint16_t port, int fds[2]);

#endif
