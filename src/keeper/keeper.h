/*
 * The keeper: the trusted process beside one running task. It holds the task's lock, the order socket into
 * the jail, the terminal or pipes of each command, the task's log, and the control socket by which `garth`
 * commands reach it (wire.h).
 *
 * A keeper is forked from the command that needs it. It runs a main command (garth run) or none (garth exec
 * in a stopped task). It ends when the main command ends or, without one, when the last command ends. When
 * the keeper ends, for any reason, everything inside ends.
 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "jail/jail.h"
#include "jail/order.h"
#include "sys/cgroup.h"
#include "task/notify.h"
#include "task/run.h"

#define KEEPER_PORTS_MAX 16
/* Ports of the host's loopback that a task can reach on its own loopback. */
#define KEEPER_FORWARDS_MAX 32
/* A file in the task's directory while ports are open: lines "INSIDE OUTSIDE". */
#define KEEPER_PORTS_FILE "ports"

/* Sockets in the task's directory. */
#define KEEPER_CONTROL_SOCKET "control" /* while the task runs; see wire.h */
#define KEEPER_ENDING_SOCKET  "ending"  /* while the end of a run is decided: accepts only CANCEL */
#define KEEPER_AGENT_SOCKET   "gateway" /* the gateway's socket for the inside */
#define KEEPER_USER_SOCKET    "gate"    /* the gateway's socket for the user's commands */

struct keeper_spec {
	int64_t task; /* its id */
	const char *task_name;
	int task_dir; /* tasks/<id>: has `lock`, gets `control` and `log` */
	int lock_fd;  /* the task's lock, held; the caller closes its own copy after keeper_start */
	const struct jail *jail;
	const struct order_cmd *main_cmd; /* NULL: none, the first client sends a command */
	const struct task_run *run;       /* the main command's run, as in the store; NULL without one */
	uint64_t log_max;                 /* bytes kept of the main command's output */
	uint64_t timeout;                 /* time limit of the main command in seconds; 0: none */
	bool tied;                        /* the main command ends with the client that started it */
	/* Ports of the host's loopback to forward to the same ports of the jail's loopback, ended by 0; NULL
	 * for none. The jail listens on them before the first command runs. */
	const uint16_t *forwards;
	/* A file in memory with a table for the credentials proxy (credentials/vault.h); -1: none. */
	int credentials;
	/* Hosts whose connections are handed over to the credentials proxy; may be NULL. */
	const struct strvec *handed_over;
	/* Ports of the jail's loopback to open on the host's loopback, ended by 0; NULL for none. */
	const uint16_t *ports;
	/* Directories in which a change means that shown refs have moved, ended by NULL. One that ends with a
	 * slash is watched with everything beneath it. They need not exist. */
	const char *const *watch;
	bool renew;               /* shown refs have moved already */
	unsigned sync_seconds;    /* how often to follow the target; 0: never */
	unsigned measure_seconds; /* how often to check whether to measure (limits/measure.h); 0: never */
	const char *group_name;   /* name for a control group to freeze the task with, if it has none */
	const struct notify_job
		*notify;            /* how to notify the user of what happens to the run; NULL: not at all */
	const struct cgroup *group; /* the first process enters it; NULL: none. The keeper removes it */
};

/* Forks the keeper, which listens on KEEPER_CONTROL_SOCKET and KEEPER_USER_SOCKET before it sends its first
 * frame. *ret_client is a connection to it, like one to the control socket. With a main command the connection
 * is attached to it already: send no ATTACH; the client's size is main_cmd's rows and cols. Never returns in
 * the keeper. */
int keeper_start(const struct keeper_spec *spec, int *ret_client, struct err *e);

#endif
