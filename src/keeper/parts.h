/*
 * What the keeper's files know of each other. One process, one thread, one libevent loop; nothing here blocks
 * but the caller's on_started and on_ended.
 *
 *	keeper.c   the fork, the listening socket, the loop
 *	life.c     the jail's life: entered, open, dying, left; cancel and every way to end
 *	orders.c   the socket to the jail's first process, whose every message is a hostile claim
 *	command.c  one command: how it is started, sized, signalled and ended
 *	stream.c   its bytes: in, out, the pace
 *	client.c   one connection and its frames
 *	gate.c     the gateway's process: when it is forked, what it is told, the orders it passes in
 *	meter.c    the process that measures what the task holds on disk: when it is forked, what follows
 *	pause.c    everything inside is stopped, stays so, and goes on
 *	proxy.c    the processes of the proxy and of forwarded ports: when they are forked
 *	tail.c     the end of a terminal's output, for those who attach later
 */
#ifndef KEEPER_PARTS_H
#define KEEPER_PARTS_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jail/order.h"
#include "keeper/keeper.h"
#include "keeper/log.h"
#include "keeper/modes.h"
#include "keeper/wire.h"

#define COMMANDS_MAX 64
#define CLIENTS_MAX  96
#define TAIL_SIZE    (32u << 10)

enum phase {
	PHASE_ENTERING, /* the jail is being made; commands wait */
	PHASE_OPEN,     /* commands run */
	PHASE_CLOSING,  /* the main command has ended; the gateway publishes what it left */
	PHASE_DYING,    /* everything inside was killed and is being waited for */
	PHASE_LEAVING,  /* all is over and reported; clients take what is left for them */
};

struct tail {
	char *data; /* TAIL_SIZE bytes, from the first use on */
	size_t len, at;
};

#define PASSED_MAX 16

/* The gateway's process and its sockets. */
struct gate_post {
	int agent, user; /* listening */
	struct event *agent_ev, *user_ev, *watch_ev, *renew_timer, *sync_timer;
	int watch; /* inotify */
	pid_t pid; /* 0: none runs */
	enum gate_job job;
	int orders;
	struct event *orders_ev;
	bool renew;   /* asked for while another job ran */
	bool leaving; /* was told to leave: commands that are over are told of it when it has */
	/* Commands that were passed on: their numbers here and there. */
	struct {
		uint32_t ours, theirs;
	} passed[PASSED_MAX];
};

struct disk_room {
	uint64_t bytes, files;
};

/* What measures the task. */
struct meter_post {
	struct event *timer;
	pid_t pid;                      /* 0: none runs */
	int fd;                         /* what it answers */
	bool late;                      /* the last one had to be killed */
	struct disk_room began, paused; /* free on the disk when the keeper began, when it was paused */
	struct disk_room room;          /* when the last one began */
	int64_t at, not_before;         /* when that was, and when there may be another; clock_ms */
	struct disk_room held;          /* by the task, as measured last before it was paused */
	uint64_t max;
};

/* The proxy of network `allow`, or a forwarded port: the sockets that the jail gave, and the process that
 * accepts on them. */
struct proxy_post {
	struct keeper *k;
	struct keeper_proxy io;
	struct event *ev[2];
	uint32_t asked; /* the number of the LISTEN that is not answered yet; 0: none */
	pid_t pid;      /* 0: none runs */
};

#define NOTES_MAX 16

/* The first is the proxy's own. */
struct proxies {
	struct proxy_post v[1 + KEEPER_FORWARDS_MAX];
	size_t n;
	int notes[2]; /* ours, theirs */
	struct event *notes_ev;
	char *told[NOTES_MAX]; /* each text is passed on once, and no more than so many */
	size_t ntold;
};

#define DIALS_MAX 64

/* A port of the inside's, by a port of the host's loopback. */
struct port {
	struct keeper *k;
	uint16_t inside, outside;
	int fd; /* listens */
	struct event *ev;
};

/* A connection to one: asked for, then carried by a process. */
struct dial {
	uint32_t id;
	int client;
	pid_t pid;
};

struct ports {
	struct port v[KEEPER_PORTS_MAX];
	size_t n;
	struct dial dials[DIALS_MAX];
};

struct keeper {
	struct keeper_spec spec;
	struct gate_post gate;
	struct meter_post meter;
	struct proxies proxies;
	struct ports ports;
	struct cgroup group;
	struct event_base *base;
	int listen_fd;
	struct event *listen_ev, *chld_ev, *term_ev;
	struct event *deadline; /* of the phase: entering, a cancel, leaving */
	struct event *time_up;  /* the main command's */
	int orders;
	struct event *orders_ev;
	pid_t launch, first; /* 0: not known yet, or waited for */
	enum phase phase;
	bool cancelled, timed_out, started;
	int exit_code;
	struct err failure; /* why the jail could not be entered */
	pid_t starter;      /* which starts commands inside; never stopped */
	char *freezer;      /* sys/cgroup.h; NULL: not looked for, or none */
	bool stopped;       /* by signals, for want of a freezer */
	struct event *hold; /* stops again what wakes up */
	char *still;        /* why everything inside stands still; NULL where it does not */
	struct command *main;
	struct command *commands[COMMANDS_MAX];
	struct client *clients[CLIENTS_MAX];
	uint32_t last_id;
	struct log log;
};

enum command_state {
	COMMAND_WAITING, /* for the jail */
	COMMAND_ASKED,   /* START was sent */
	COMMAND_RUNNING,
	COMMAND_OVER, /* exit_code is known */
};

struct command {
	struct keeper *k;
	uint32_t id;
	enum command_state state;
	bool tty;
	char *name;           /* argv[0], for the message */
	int order_fd;         /* the packed command, until it is started */
	struct client *owner; /* whose stdin and pace it is; NULL: gone, or a terminal that many share */
	int pending_signal;   /* came before the command ran */
	int exit_code;
	struct wire_size size; /* of the terminal */
	int in_fd;             /* stdin's writing end; with a terminal the same as out_fd[0] */
	int out_fd[2];
	struct event *in_ev, *out_ev[2], *timer;
	struct evbuffer *in; /* what clients that left had typed */
	struct tail tail;    /* of the main command's terminal */
	struct modes modes;
};

struct client {
	struct keeper *k;
	struct bufferevent *bev;
	struct command *cmd; /* whose streams it gets */
	uint32_t waits;      /* the number of the LISTEN that it asked for; 0: none */
	struct wire_size size;
	struct evbuffer *in; /* STDIN that the command did not take yet */
	bool in_end, cancels, closing, muted[2];
	bool whole; /* owns or owned a command's pipes: gets every byte, whatever it takes */
};

/* life.c, too: a word to everybody who has a command in it. */
void life_note(const struct keeper *k, const char *text);
/* A word to those who watch the main command, or to everybody where there is none. */
void life_note_main(const struct keeper *k, const char *text);

/* pause.c */
/* Stops everything inside and keeps it so; those who watch are told why. Commands that are started meanwhile
 * run. */
void pause_all(struct keeper *k, const char *why);
/* Everything goes on; without a word, to be ended. Whether it was paused. */
bool pause_lift(struct keeper *k);
void pause_over(struct keeper *k);

/* meter.c */
void meter_start(struct keeper *k);
void meter_stop(struct keeper *k);
/* The task is being paused. */
void meter_pause(struct keeper *k);
/* A process has ended, perhaps the one that measures. */
void meter_ended(struct keeper *k, pid_t pid);

/* gate.c */
/* Makes the inside's socket; before the fork. Nothing where the spec has no gateway. */
int gate_listen(struct gate_post *g, const struct keeper_spec *spec, struct err *e);
/* Makes the user's, and waits for callers. */
int gate_start(struct keeper *k, struct err *e);
/* Stops listening and tells the process to end. */
void gate_stop(struct keeper *k);
void gate_kill(struct keeper *k);
/* Its process has ended. */
void gate_ended(struct keeper *k);
/* No command runs any more that could speak to it: it ends as soon as the user is not connected. */
void gate_leave(struct keeper *k);
/* Whether the user waits at its socket. */
bool gate_is_called(const struct keeper *k);
/* Runs GATE_CLOSE, after whatever runs now. */
void gate_finish(struct keeper *k);
/* The jail can be given orders from now on. */
void gate_open_orders(struct keeper *k);
/* Everything is entered: what is due at the start is done. */
void gate_begin(struct keeper *k);
/* An answer from the jail to an order that was passed on; false where it was not. */
bool gate_answer(struct keeper *k, const struct order_msg *m);

/* proxy.c */
void proxy_init(struct keeper *k);
/* Orders the forwarded ports: before any command is. */
void proxy_order(struct keeper *k);
/* The jail's socket, which is taken where it is one. */
void proxy_open(struct keeper *k, int *fd);
/* One more port, or one that is there: the client is told when the inside listens. */
void proxy_forward(struct client *c, uint16_t port);
/* The inside's answer to a LISTEN. What is taken of fds is -1 afterwards. */
void proxy_listens(struct keeper *k, const struct order_msg *m, int *fds, size_t nfds);
/* A process has ended, perhaps one of these. */
void proxy_ended(struct keeper *k, pid_t pid);
void proxy_stop(struct keeper *k);

/* port.c */
/* Listens; before the fork or after it. */
int port_listen(uint16_t inside, struct port *ret, struct err *e);
void port_start(struct keeper *k);
/* One more, or one that is there. */
int port_open(struct keeper *k, uint16_t inside, uint16_t *ret, struct err *e);
/* The inside's answer to a DIAL. fd stays the caller's. */
void port_dialed(struct keeper *k, const struct order_msg *m, int fd);
/* A process has ended, perhaps one that carried a connection. */
void port_ended(struct keeper *k, pid_t pid);
void port_stop(struct keeper *k);

/* life.c */
void life_start(struct keeper *k);
/* There is a first process: what waits is ordered already, and lies in its socket until it has entered. */
void life_born(struct keeper *k);
void life_ready(struct keeper *k);
/* The jail could not be entered. */
void life_fail(struct keeper *k, const struct err *why);
/* The main command has ended: the gateway does its part, then life_end. */
void life_close(struct keeper *k, int exit_code);
/* Kills everything inside; the rest follows from its death. */
void life_end(struct keeper *k, int exit_code);
void life_cancel(struct keeper *k);
/* Tells one, or all (NULL), that the task is paused, where it is. */
void life_tell(struct keeper *k, struct client *c);
/* The deadline of the phase is over. */
void life_late(struct keeper *k);
/* Waits for children that are dead and draws the conclusion. */
void life_reap(struct keeper *k);
/* A command ended or a client left: whether the keeper still has a purpose. */
void life_check(struct keeper *k, int last_code);

/* keeper.c */
void keeper_stop_listening(struct keeper *k);
void keeper_deadline(struct keeper *k, int seconds);
/* The main command has begun: its time runs. */
void keeper_time_main(struct keeper *k);
/* In a new process: it dies with the keeper, has its own name, every signal as it is at first, and of the
 * descriptors only these. */
void keeper_become(const char *name, int *keep, size_t n);
/* Closes every descriptor from 3 on but these, which are sorted. */
void keeper_close_all_but(int *keep, size_t n);

/* orders.c */
void orders_open(struct keeper *k, int fd);
void orders_close(struct keeper *k);
/* Takes all messages that are there. */
void orders_take(struct keeper *k);
int orders_send(struct keeper *k, const struct order_msg *m, const int *fds, size_t nfds);
int orders_start(struct command *cmd, const int *fds, size_t nfds);
void orders_signal(struct command *cmd, int sig);

/* command.c */
struct command *command_new(struct keeper *k, const struct order_cmd *order, struct err *e);
void command_free(struct command *cmd);
struct command *command_by_id(struct keeper *k, uint32_t id);
/* The jail stands: asks for the command. */
void command_begin(struct command *cmd);
/* master is the terminal's, or -1; the command's to close. */
void command_started(struct command *cmd, int master);
/* What the inside says about it, where it does: a claim, which is cleaned. */
void command_not_started(struct command *cmd, int error, const struct err *why);
void command_exited(struct command *cmd, int status);
void command_signal(struct command *cmd, int sig);
void command_attach(struct command *cmd, struct client *c);
/* The client is no longer there; detached where it said so before. */
void command_leave(struct command *cmd, struct client *c, bool detached);
void command_resize(struct command *cmd);
/* All clients get EXIT, and it is freed. */
void command_over(struct command *cmd);

/* stream.c */
int stream_open(struct command *cmd, int master);
void stream_close_out(struct command *cmd, int which);
void stream_close(struct command *cmd);
/* Clients' STDIN to the command, as far as it takes it. */
void stream_feed(struct command *cmd);
/* Reads or rests, by how far the clients are behind. */
void stream_pace(struct command *cmd);
/* Everything that is in the pipes now. */
void stream_drain(struct command *cmd);

/* client.c */
struct client *client_new(struct keeper *k, int fd);
void client_free(struct client *c);
void client_send(struct client *c, enum wire_type type, const void *data, size_t len);
void client_exit(struct client *c, int code);
void client_fail(struct client *c, const struct err *e);
/* Bytes that the client did not take yet. */
size_t client_behind(const struct client *c);

/* tail.c */
void tail_add(struct tail *t, const char *data, size_t len);
/* Gives what was kept, from the start of a line where bytes were lost before it. */
void tail_send(const struct tail *t, struct client *c);

#endif
