/* Connections to what listens inside, for the host (J11). */
#ifndef LAUNCH_DIAL_H
#define LAUNCH_DIAL_H

/* A connection to that port on the jail's own loopback; -1 and errno. */
int dial(int port);

#endif
