/* Connects to servers inside the jail, on behalf of the host. */
#ifndef LAUNCH_CONNECT_H
#define LAUNCH_CONNECT_H

/* A connection to this port on the jail's loopback; -1 and errno. It may still be in progress. */
int connect_to_port(int port);

#endif
