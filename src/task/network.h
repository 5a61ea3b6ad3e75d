/*
 * The network of a task: `none`, `allow` with a list of hosts (base/hosts.h), or `host`. It is chosen when
 * the task is run, and stays with it (tasks/<id>/network) for whatever is run in it later. Where a command in
 * a stopped task asked for another one, that is in force while it runs (tasks/<id>/network.now).
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

/* Where the proxy listens inside. */
#define NETWORK_PROXY_PORT 43128
/* Ports of the host's loopback that a task can have. */
#define NETWORK_FORWARDS_MAX 32

struct network {
	char *mode; /* NULL: not chosen */
	struct strvec allow;
};

void network_release(struct network *n);
#define auto_network __attribute__((cleanup(network_release))) struct network

/* What the command line says (mode may be NULL, more hosts), else the configuration; with `allow`, the
 * configuration's hosts and the agent's (may be NULL). Naming a host says `allow`. ERR_USAGE. */
int network_choose(const struct config *c, const struct config_agent *a, const char *mode,
	const struct strvec *hosts, struct network *ret, struct err *e);

/* Of the task whose directory it is; `now`: while it runs. ERR_NOTFOUND where none was chosen yet. */
int network_load(int task_dir, bool now, struct network *ret, struct err *e);
/* It is in force from now on; `own`: and stays so for what comes later. */
int network_save(int task_dir, bool own, const struct network *n, struct err *e);

/* Puts one more host on the list of a task that has one, at once while it runs; `own`: and for what comes
 * later. ERR_REFUSED where its network is another. */
int network_add(int task_dir, bool own, const struct config *c, const char *host, struct err *e);
/* The list with the host on it, without writing it down: ERR_USAGE, ERR_REFUSED. */
int network_with(
	int task_dir, bool now, const struct config *c, const char *host, struct network *ret, struct err *e);

/*
 * localhost is the inside's own loopback, always, for every program: nothing that is asked for there goes by
 * the proxy (network_env). A port of the user's own loopback that is on the list (localhost:8080) is
 * forwarded: the jail listens on 127.0.0.1 and ::1 at the same port, and what connects there is at the
 * host's. The ports, up to a 0; none but with `allow`.
 */
/* ERR_USAGE where there are too many, or one is the proxy's. */
int network_check_forwards(const struct network *n, struct err *e);
void network_forwards(const struct network *n, uint16_t ret[NETWORK_FORWARDS_MAX + 1]);
/* Adds the variables by which programs find the proxy. */
void network_env(const struct network *n, struct strvec *ret);

#endif
