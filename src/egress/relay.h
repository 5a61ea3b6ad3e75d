/* Copies bytes between two sockets, in both directions, until both directions have ended. */
#ifndef EGRESS_RELAY_H
#define EGRESS_RELAY_H

/* If one side ends its direction, that end is passed on, and the other direction continues: a client that has
 * sent its request still gets the answer. Blocks; makes the sockets non-blocking. */
void relay(int near, int far);

#endif
