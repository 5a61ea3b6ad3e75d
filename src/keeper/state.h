/*
 * The keeper's state. It is one process with one thread and one libevent loop, and nothing in it blocks.
 * Children do what takes long: the gateway (gateway_child.h), the proxy and forwarded ports (proxies.h,
 * ports.h), the credentials proxy (credentials_child.h), measuring the disk (meter.h), ending a run (ending.h).
 */
#ifndef KEEPER_STATE_H
#define KEEPER_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "keeper/client.h"
#include "keeper/command.h"
#include "keeper/credentials_child.h"
#include "keeper/ending.h"
#include "keeper/gateway_child.h"
#include "keeper/keeper.h"
#include "keeper/log.h"
#include "keeper/meter.h"
#include "keeper/notifier.h"
#include "keeper/orders.h"
#include "keeper/pause.h"
#include "keeper/phases.h"
#include "keeper/ports.h"
#include "keeper/proxies.h"
#include "keeper/stream.h"
#include "sys/cgroup.h"

#define COMMANDS_MAX 64
#define CLIENTS_MAX  96

enum phase {
	PHASE_ENTERING, /* the jail is being made; commands wait */
	PHASE_OPEN,     /* commands run */
	PHASE_CLOSING,  /* the main command has ended; the gateway publishes what it left */
	PHASE_DYING,    /* everything inside was killed and is being waited for */
	PHASE_ENDING,   /* nothing runs inside; a process decides what the run's result is, and pushes */
	PHASE_LEAVING,  /* all is over and reported; clients read what is left for them */
};

struct keeper {
	struct keeper_spec spec;
	struct gateway_child gateway;
	struct meter meter;
	struct proxies proxies;
	struct credentials_child credentials;
	struct ports ports;
	struct ending ending;
	int notifier; /* a socket (notifier.h); -1: none */
	struct cgroup group;
	struct event_base *base;
	int listen_fd;
	const char *listen_name;
	struct event *listen_ev, *chld_ev, *term_ev;
	struct event *deadline; /* of the current phase */
	struct event *time_up;  /* time limit of the main command */
	struct event *untied;   /* ends the main command, whose client is gone */
	bool interrupted;       /* it was sent SIGINT for that */
	int orders;
	struct event *orders_ev;
	pid_t launch, first; /* 0: not known yet, or reaped */
	enum phase phase;
	bool cancelled, timed_out, started;
	int exit_code;
	struct err failure; /* why the jail could not be entered */
	pid_t starter;      /* the process that starts commands inside; never paused */
	char *freezer;      /* sys/cgroup.h; NULL: not tried yet, or none */
	bool stopped;       /* paused by signals, because there is no freezer */
	struct event *hold; /* stops again what has woken up */
	char *paused;       /* why everything is paused; NULL: it is not paused */
	struct command *main;
	struct command *commands[COMMANDS_MAX];
	struct client *clients[CLIENTS_MAX];
	uint32_t last_id;
	struct log log;
};

/* Accepts connections on a socket of that name in the task's directory. */
int keeper_listen(struct keeper *k, const char *name, struct err *e);
void keeper_stop_listening(struct keeper *k);
void keeper_deadline(struct keeper *k, int seconds);
/* The client that the main command is tied to is gone, and with it the command's input. */
void keeper_untied(struct keeper *k);
/* The main command has begun: starts its time limit. */
void keeper_time_main(struct keeper *k);
/* Called in a forked child: it will die with the keeper, gets its own process name and default signal
 * handling, and keeps only these descriptors. */
void keeper_become(const char *name, int *keep, size_t n);
/* The same, but it lives on when its parent ends. */
void keeper_leave(const char *name, int *keep, size_t n);
/* Closes every descriptor from 3 on except these. Sorts keep. */
void keeper_close_all_but(int *keep, size_t n);

#endif
