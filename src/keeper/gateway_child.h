/*
 * The gateway's process, a child of the keeper (its main is in gateway/main.h). The keeper listens on the
 * task's two sockets and forks the process when somebody connects, or when one of its other jobs is due.
 * There is never more than one. Its orders to the jail pass through the keeper, which renumbers them.
 *
 *	gateway_child_listen     before the fork of the keeper: makes the agent's socket
 *	gateway_child_start      in the keeper: makes the user's socket, waits for connections
 *	gateway_child_open       the jail can be given orders
 *	gateway_child_begin      the jail is entered
 *	gateway_child_finish     the main command has ended: GATEWAY_CLOSE, after the current job
 *	gateway_child_stop       the task is being killed: stops listening, and the process ends
 */
#ifndef KEEPER_GATEWAY_CHILD_H
#define KEEPER_GATEWAY_CHILD_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "gateway/main.h"
#include "jail/order.h"

#define PASSED_MAX 16

struct keeper;
struct keeper_spec;

struct gateway_child {
	int agent, user; /* listening sockets */
	struct event *agent_ev, *user_ev, *watch_ev, *renew_timer, *sync_timer;
	int watch; /* inotify */
	pid_t pid; /* 0: none runs */
	enum gateway_job job;
	int orders;
	struct event *orders_ev;
	bool renew;   /* GATEWAY_RENEW was asked for while another job ran */
	bool leaving; /* it was told to leave: clients of ended commands get their exit code after that */
	/* Orders passed on to the jail: their ids there and in the gateway's process. */
	struct {
		uint32_t ours, theirs;
	} passed[PASSED_MAX];
};

int gateway_child_listen(struct gateway_child *g, const struct keeper_spec *spec, struct err *e);
int gateway_child_start(struct keeper *k, struct err *e);
void gateway_child_stop(struct keeper *k);
void gateway_child_kill(struct keeper *k);
/* Called when its process has ended. */
void gateway_child_ended(struct keeper *k);
/* No command runs inside any more: it ends as soon as the user is not connected. */
void gateway_child_leave(struct keeper *k);
/* Whether the user waits for a connection on its socket. */
bool gateway_child_is_called(const struct keeper *k);
void gateway_child_finish(struct keeper *k);
void gateway_child_open(struct keeper *k);
void gateway_child_begin(struct keeper *k);
/* An answer from the jail. False if it does not belong to a passed order. */
bool gateway_child_answer(struct keeper *k, const struct order_msg *m);
/* Ends what the gateway runs inside, and tells it why. A limit has paused the task, and these commands with it: the gateway
 * would wait for them, and so would whoever asked it. */
void gateway_child_end_commands(struct keeper *k, const char *why);

#endif
