/*
 * The socket to the jail's first process (jail/order.h). Every message from it is a hostile claim.
 */
#ifndef KEEPER_ORDERS_H
#define KEEPER_ORDERS_H

#include <stddef.h>

#include "jail/order.h"

struct command;
struct keeper;

void orders_open(struct keeper *k, int fd);
void orders_close(struct keeper *k);
/* Reads and handles all messages that have arrived. */
void orders_take(struct keeper *k);
int orders_send(struct keeper *k, const struct order_msg *m, const int *fds, size_t nfds);
int orders_start(struct command *cmd, const int *fds, size_t nfds);
void orders_signal(struct command *cmd, int sig);

#endif
