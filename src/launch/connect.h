/* Connections to what listens inside, for the host (J11). */
#ifndef LAUNCH_CONNECT_H
#define LAUNCH_CONNECT_H

/* A connection to that port on the jail's own loopback; -1 and errno. */
int dial(int port);

#endif
