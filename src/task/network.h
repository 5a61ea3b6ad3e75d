/*
 * The network of a task: `none`, `allow` with a list of hosts (base/hosts.h), or `host`. It is chosen for the
 * first run and stored in tasks/<id>/network for all later ones. A command in a stopped task may ask for
 * another network; that one applies while it runs (tasks/<id>/network.now).
 */
#ifndef TASK_NETWORK_H
#define TASK_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

#define NETWORK_NONE  "none"
#define NETWORK_ALLOW "allow"
#define NETWORK_HOST  "host"

/* The port inside at which the proxy listens. Below those that the kernel gives to whoever asks for any: so a server on the
 * host that is forwarded has this one only if somebody chose it. */
#define NETWORK_PROXY_PORT 23128
/* How many ports of the host's loopback a task can have. */
#define NETWORK_FORWARDS_MAX 32

struct network {
	char *mode; /* NULL: not chosen yet */
	struct strvec allow;
};

void network_release(struct network *n);
#define auto_network __attribute__((cleanup(network_release))) struct network

/* Chooses by the command line (mode may be NULL; additional hosts), else by the configuration. With
 * `allow`, adds the configuration's hosts and the agent's (a may be NULL). Additional hosts imply `allow`.
 * ERR_USAGE. */
int network_choose(const struct config *c, const struct config_agent *a, const char *mode,
	const struct strvec *hosts, struct network *ret, struct err *e);

/* The network of the task with this directory; with `now`, the one that applies to what runs. ERR_NOTFOUND if
 * none was chosen yet. */
int network_load(int task_dir, bool now, struct network *ret, struct err *e);
/* Makes it apply from now on; with `own`, also to later runs. */
int network_save(int task_dir, bool own, const struct network *n, struct err *e);

/* Adds a host to the task's list, at once if it runs; with `own`, also for later runs. ERR_REFUSED if its
 * network has no list. */
int network_add(int task_dir, bool own, const struct config *c, const char *host, struct err *e);
/* The list with the host added, without storing it. ERR_USAGE, ERR_REFUSED. */
int network_with(
	int task_dir, bool now, const struct config *c, const char *host, struct network *ret, struct err *e);

/*
 * localhost always means the loopback inside, for every program: requests to it never use the proxy
 * (network_env). If a port of the user's loopback is on the list (localhost:8080), it is forwarded: the jail
 * listens on 127.0.0.1 and ::1 at the same port and connects to the host's. network_forwards lists these
 * ports, ending in 0; there are none unless the mode is `allow`.
 */
/* ERR_USAGE if there are too many, or one is the proxy's port. */
int network_check_forwards(const struct network *n, struct err *e);
void network_forwards(const struct network *n, uint16_t ret[NETWORK_FORWARDS_MAX + 1]);
/* Adds the variables that tell programs about the proxy. */
void network_env(const struct network *n, struct strvec *ret);

#endif
