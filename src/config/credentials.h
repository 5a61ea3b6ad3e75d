/*
 * Which log-ins of agents the credentials proxy can add outside (credentials/server.h), as data: the services that accept
 * credentials; for each agent, which of its secrets belongs to which service, and how the agent is told to send its
 * requests to the proxy.
 */
#ifndef CONFIG_CREDENTIALS_H
#define CONFIG_CREDENTIALS_H

#include <stdbool.h>

/* The values of agents.NAME.credentials. Unset: the proxy for what it can add, a copy of the rest. */
#define CREDENTIALS_NONE  "none"
#define CREDENTIALS_PROXY "proxy"
#define CREDENTIALS_COPY  "copy"

struct default_service {
	const char *name, *url;
	const char *const *headers; /* in which a secret is sent */
	const char *const *paths;   /* credentials/allowed.h */
	const char *const *renews;  /* credentials/renew.h */
	bool tls; /* its clients cannot be told another address: the proxy answers its TLS */
};

struct default_login {
	const char *agent;
	/* "VARIABLE=SERVICE", or "FILE:MEMBER=SERVICE" for a member of a log-in file. "-": a secret that no service
	 * can get. */
	const char *const *secrets;
	/* "VARIABLE=SERVICE[/PATH]": set to the service's address inside. The user's own value is where the proxy
	 * sends the requests. */
	const char *const *redirects;
	/* "/etc/DIR/NAME=TEXT": added to such a file of the agent's (agents.NAME.files). "{SERVICE}" is its address
	 * inside; a line with a service that is not used is left out, and so is a second line for the same key.
	 * "~/NAME=TEXT": the same for a log-in file that is JSON; what the user's own file has stays, and if there is no such
	 * file, it is made. */
	const char *const *told;
};

extern const struct default_service default_services[]; /* both end in a row without a name */
extern const struct default_login default_logins[];

const struct default_service *config_service(const char *name);
/* NULL for an unknown agent. */
const struct default_login *config_login(const char *agent);

#endif
