/*
 * The network of a task: `none`, `allow` with a list of hosts (base/hosts.h), or `host`. It is chosen when
 * the task is run, and stays with it (tasks/<id>/network) for whatever is run in it later. Where a command in
 * a stopped task asked for another one, that is in force while it runs (tasks/<id>/network.now).
 */
#ifndef TASK_NETWORK_H
#define TASK_NETWORK_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

#define NETWORK_NONE  "none"
#define NETWORK_ALLOW "allow"
#define NETWORK_HOST  "host"

/* Where the proxy listens inside. */
#define NETWORK_PROXY_PORT 43128

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

/* Adds the variables by which programs find the proxy. What is on the list by a name of this machine's
 * (localhost:8080) is the user's machine, through it; any other such name is the task's own loopback. */
void network_env(const struct network *n, struct strvec *ret);

#endif
