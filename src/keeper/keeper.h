/*
 * The keeper: the trusted process that stands outside one running task. It holds the task's lock, the order
 * socket into the jail, the terminal or the pipes of each command, the task's log, and the control socket by
 * which `garth` commands reach it (wire.h).
 *
 * A keeper is a fork of the command that needs it. It runs a main command (garth run) or none (garth exec on
 * a stopped task), and ends when the main command ends, or with the last command where there is no main one.
 * When it ends, however it ends, everything inside ends.
 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jail/jail.h"
#include "jail/order.h"
#include "limits/measure.h"
#include "sys/cgroup.h"

/* What the task's gateway is to do, in a process of its own. */
enum gate_job {
	GATE_SERVE, /* answer on both sockets until nobody has spoken for `linger` seconds; blocked at
		       first: SIGUSR1, GATE_RENEW; SIGHUP, GATE_SYNC; SIGUSR2, linger no more */
	GATE_CLOSE, /* the main command has ended: publish its drafts */
	GATE_RENEW, /* refs outside have moved: show their new values inside */
	GATE_SYNC,  /* time to look whether the task can follow its target */
};

struct keeper_gate {
	enum gate_job job;
	int agent;  /* a listening socket, which the inside sees */
	int user;   /* a listening socket for the user's own commands */
	int orders; /* jail/order.h: the keeper passes on START and SIGNAL, and the answers */
	unsigned linger;
	int exit_code; /* of the main command, with GATE_CLOSE */
};

/* How the main command, or the last one, came to its end. */
enum keeper_end { KEEPER_ENDED, KEEPER_CANCELLED, KEEPER_TIMED_OUT };

struct keeper_report {
	int exit_code;
	enum keeper_end how;
	uint64_t oom_kills; /* processes that the kernel ended for want of memory */
};

#define KEEPER_PORTS_MAX 16
/* Ports of the host's loopback that a task reaches on its own. */
#define KEEPER_FORWARDS_MAX 32
/* In the task's directory while ports are open: lines "INSIDE OUTSIDE". */
#define KEEPER_PORTS_FILE   "ports"
#define KEEPER_AGENT_SOCKET "gateway"
#define KEEPER_USER_SOCKET  "gate"

/* What a proxy's process has. */
struct keeper_proxy {
	int listen[2];    /* of IPv4 and of IPv6; -1: none */
	uint16_t forward; /* the host's port that everything goes to; 0: what each client asks for */
	int notes;        /* a datagram sent here is a text for whoever is attached; -1: none */
};

struct keeper_spec {
	const char *task; /* its name */
	int task_dir;     /* tasks/<id>: has `lock`, gets `control` and `log` */
	int lock_fd;      /* the task's lock, held; the caller closes its own copy after keeper_start */
	const struct jail *jail;
	const struct order_cmd *main_cmd; /* NULL: none, the first client brings a command */
	uint64_t log_max;                 /* bytes kept of the main command's output */
	/* Called in the keeper, at these moments; may be NULL. `arg` is the caller's. Of the caller's
	 * descriptors only task_dir and lock_fd are open in the keeper. */
	void (*on_started)(void *arg); /* the main command runs; never called where there is none */
	/* Always called, once: all inside is dead, nothing is mounted, the lock is still held, and no client
	 * has been told yet. exit_code is the main command's, or the last command's; 125 where the jail could
	 * not be entered, 126 or 127 where the command could not be executed.
	 * What it returns is the exit code that the main command's clients are told. */
	int (*on_ended)(void *arg, const struct keeper_report *r);
	/* The gateway, NULL for none. Called in a process that the keeper forks when somebody speaks to one
	 * of the two sockets, and for each of the other jobs; never two at a time. Of the keeper's
	 * descriptors it has those in io. */
	void (*gateway)(void *arg, const struct keeper_gate *io);
	/* The proxy, NULL for none. Called in a process that the keeper forks when somebody connects to the
	 * socket that the jail listens on (jail.listens), or to one of a forwarded port's; of the keeper's
	 * descriptors it has those in io. */
	void (*proxy)(void *arg, const struct keeper_proxy *io);
	/* Ports of the host's loopback that are reached at the same ports of the jail's own, up to a 0. The
	 * jail listens there before the first command runs. */
	const uint16_t *forwards;
	/* Ports of the inside's loopback that are reached from a port of the host's, up to a 0; and what
	 * carries the bytes of one connection, called in a process of its own (egress/relay.h). */
	const uint16_t *ports;
	void (*relay)(int client, int inside);
	/* Directories in which a change means GATE_RENEW, up to a NULL; with a slash at its end: and in all
	 * beneath it. They need not be there yet. */
	const char *const *watch;
	bool renew;                 /* GATE_RENEW is due at once */
	unsigned sync_seconds;      /* how often GATE_SYNC; 0: never */
	unsigned measure_seconds;   /* how often to look whether it is to be measured (limits/measure.h);
				       0: never */
	const char *group_name;     /* of a group that is made to freeze the task, where it has none */
	const struct cgroup *group; /* which the first process enters; NULL for none. The keeper removes it */
	uint64_t timeout;           /* seconds that the main command has; 0: all the time there is */
	void *arg;
};

/* Forks the keeper, which listens on `control` and on KEEPER_USER_SOCKET before it answers. *ret_client is a
 * connection to it, as if made by connecting to the control socket; with a main command it is attached to
 * that already (no ATTACH is sent; rows and cols of the main command count as this client's). In the keeper
 * this never returns. */
int keeper_start(const struct keeper_spec *spec, int *ret_client, struct err *e);

#endif
