/* Bytes between two sockets, both ways, until both have ended. */
#ifndef EGRESS_RELAY_H
#define EGRESS_RELAY_H

/* They go from socket to pipe to socket in the kernel. One side's end is passed on as such, and the other
 * goes on: who has asked may still be answered. The near one is a connection within this machine. Blocks; the
 * sockets become non-blocking. */
void relay(int near, int far);

#endif
