/*
 * The keeper: the trusted process beside one running task. It holds the task's lock, the order socket into the
 * jail, the terminal or the pipes of each command, the task's log, and the control socket by which `garth`
 * commands reach it (wire.h).
 *
 * A keeper is a fork of the command that needs it. It runs a main command (garth run) or none (garth exec on a
 * stopped task), and ends when the main command ends, or with the last command if there is no main one. When it
 * ends, however it ends, everything inside ends.
 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jail/jail.h"
#include "jail/order.h"
#include "sys/cgroup.h"
#include "task/run.h"

#define KEEPER_PORTS_MAX 16
/* Ports of the host's loopback that a task reaches on its own loopback. */
#define KEEPER_FORWARDS_MAX 32
/* In the task's directory while ports are open: lines "INSIDE OUTSIDE". */
#define KEEPER_PORTS_FILE "ports"

/* Sockets in the task's directory. */
#define KEEPER_CONTROL_SOCKET "control" /* while the task runs; see wire.h */
#define KEEPER_ENDING_SOCKET  "ending"  /* while its end is being decided: understands CANCEL */
#define KEEPER_AGENT_SOCKET   "gateway" /* the gateway's, for the inside */
#define KEEPER_USER_SOCKET    "gate"    /* the gateway's, for the user's commands */

struct keeper_spec {
	const char *task; /* its name */
	int task_dir;     /* tasks/<id>: has `lock`, gets `control` and `log` */
	int lock_fd;      /* the task's lock, held; the caller closes its own copy after keeper_start */
	const struct jail *jail;
	const struct order_cmd *main_cmd; /* NULL: none, the first client brings a command */
	const struct task_run *run; /* the main command's run, as the store has it; NULL with main_cmd */
	uint64_t log_max;           /* bytes kept of the main command's output */
	uint64_t timeout;           /* seconds that the main command has; 0: no limit */
	/* Ports of the host's loopback that are reached at the same ports of the jail's own, up to a 0; NULL for
	 * none. The jail listens there before the first command runs. */
	const uint16_t *forwards;
	/* Ports of the inside's loopback that are reached from a port of the host's, up to a 0; NULL for none. */
	const uint16_t *ports;
	/* Directories in which a change means that shown refs have moved, up to a NULL. One with a slash at its
	 * end is watched with everything beneath it. They need not exist yet. */
	const char *const *watch;
	bool renew;                 /* shown refs have moved already */
	unsigned sync_seconds;      /* how often to follow the target; 0: never */
	unsigned measure_seconds;   /* how often to check whether to measure (limits/measure.h); 0: never */
	const char *group_name;     /* of a control group that is made to freeze the task, if it has none */
	const struct cgroup *group; /* the first process enters it; NULL for none. The keeper removes it */
};

/* Forks the keeper, which listens on KEEPER_CONTROL_SOCKET and KEEPER_USER_SOCKET before it answers. *ret_client
 * is a connection to it, as if made by connecting to the control socket. If there is a main command, the
 * connection is attached to it already: no ATTACH is sent, and rows and cols of the main command count as this
 * client's. In the keeper this never returns. */
int keeper_start(const struct keeper_spec *spec, int *ret_client, struct err *e);

#endif
