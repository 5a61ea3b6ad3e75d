/*
 * Log-ins that stay outside: an agent gets dummies of its secrets (credentials/dummy.h) and sends its requests to the
 * credentials proxy, which has the table of the real ones (credentials/server.h). The secrets of each agent, and how it
 * learns of the proxy, are data (config/credentials.h).
 *
 *	outside_open(&where, &o, e)          finds the secrets: in variables and in log-in files
 *	agent_copy_login(…, &o, …)           log-in files, with dummies
 *	outside_env(&o, &env)                variables, with dummies and with the proxy's addresses
 *	o.table → the proxy's process; o.told → files inside; o.hosts → the proxy of network `allow`
 *
 * If agents.NAME.credentials is not set, secrets that the proxy cannot add are copied; with `proxy` they are left out.
 */
#ifndef AGENT_OUTSIDE_H
#define AGENT_OUTSIDE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "agent/agent.h"
#include "base/strvec.h"
#include "config/config.h"
#include "config/credentials.h"
#include "credentials/dummy.h"
#include "credentials/vault.h"

enum outside_mode {
	OUTSIDE_COPY,  /* everything except refresh tokens enters the task */
	OUTSIDE_KNOWN, /* what the proxy can add stays outside */
	OUTSIDE_ALL,   /* every secret stays outside */
};

struct outside {
	enum outside_mode mode;
	struct vault table;
	struct strvec
		kept; /* names of secrets that the proxy adds: "ANTHROPIC_API_KEY", "~/.codex/auth.json" */
	struct strvec entered; /* names of secrets that enter as they are */
	struct strvec told;    /* "/etc/DIR/NAME=TEXT" */
	struct strvec vars;    /* "NAME=VALUE": addresses of the proxy */
	struct strvec
		hosts; /* whose TLS the proxy answers; not empty: the table needs a certificate authority */
	const struct default_login *login;
	/* where the user has the log-in files: agent_users_path */
	const struct config_agent *agent;
	struct agent_env env;
	char *home; /* the user's */
};

void outside_release(struct outside *o);
#define auto_outside __attribute__((cleanup(outside_release))) struct outside

/* Where to look for secrets. */
struct outside_where {
	const struct config *config;
	const struct config_agent *agent;
	char *const *environ_now;
	const struct strvec *extra; /* as in agent_environment */
	const char *user_home;
	int home_fd;
	bool possible;            /* the task can reach a proxy */
	bool fixed;               /* the task runs already, and its files in /etc do not change */
	bool tls;                 /* the task trusts a certificate authority of its own, or will */
	const unsigned char *key; /* for the dummies */
};

int outside_open(const struct outside_where *w, struct outside *ret, struct err *e);
/* Replaces secrets in the environment of a command, and adds the proxy's addresses. */
void outside_env(const struct outside *o, struct strvec *env);
/* Replaces secrets in the text of a log-in file; the path is relative to the home. */
void outside_text(const struct outside *o, const char *path, struct buf *text);
/* Whether a task's own file at this path must be replaced: it has a secret that now stays outside, or dummies of secrets
 * that the user no longer has. */
bool outside_is_old(const struct outside *o, const char *path, const char *text, size_t len);
/* The files inside: one has the authority's certificate, the other has it and all others that the user trusts. */
#define INSIDE_AUTHORITY    "/run/garth/authority.pem"
#define INSIDE_CERTIFICATES "/run/garth/certificates.pem"

/* Whether the log-in in this file is renewed through the proxy. */
bool outside_renews(const struct outside *o, const char *path);

#endif
