/*
 * The credentials proxy (credentials/server.h): a program of its own, since it needs curl and holds the user's
 * secrets. The jail makes its listening sockets, as for the other proxies; the program is started when somebody
 * connects, or the other proxy hands a connection over, and stays as long as the task runs. Until then the keeper has the
 * table in a file in memory, which it does not read.
 */
#ifndef KEEPER_CREDENTIALS_CHILD_H
#define KEEPER_CREDENTIALS_CHILD_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "jail/order.h"

/* Tables that wait for the program. */
#define CREDENTIALS_TABLES_MAX 16

struct keeper;

struct credentials_child {
	int tables[CREDENTIALS_TABLES_MAX];
	size_t n;
	int listen[2], control; /* -1: none */
	int over[2];            /* connections that the other proxies hand over: our end, theirs; -1: none */
	struct event *ev[3];    /* of the listening sockets, and of over[0] */
	uint32_t asked;         /* the id of the LISTEN that is not answered yet; 0: none */
	pid_t pid;              /* 0: it does not run */
};

/* The table is a file in memory, or -1. */
void credentials_child_init(struct credentials_child *c, int table);
/* Orders the listening sockets if there is a table. Called before any command is started. */
void credentials_child_order(struct keeper *k);
/* One more table, from a client that starts an agent in the running task. */
void credentials_child_add(struct keeper *k, const char *data, size_t len);
/* The jail's answer to a LISTEN. Descriptors that are taken become -1 in fds. */
void credentials_child_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds);
/* A child has ended; perhaps it is this one. */
void credentials_child_ended(struct keeper *k, pid_t pid);
void credentials_child_stop(struct keeper *k);

#endif
