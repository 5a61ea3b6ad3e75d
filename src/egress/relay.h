/* Bytes between two sockets, both ways, until both have ended. */
#ifndef EGRESS_RELAY_H
#define EGRESS_RELAY_H

/* One side's end is passed on as such, and the other goes on: who has asked may still be answered. Blocks;
 * the sockets become non-blocking. */
void relay(int near, int far);

#endif
