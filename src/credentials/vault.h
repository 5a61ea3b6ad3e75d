/*
 * The table of the credentials proxy: services, each with the address that the agent would use outside, and secrets, each
 * with its dummy in the task and its service. The table is made when an agent is started (agent/outside.h). It goes to the
 * proxy's process as a file in memory, and is never written to a disk.
 */
#ifndef CREDENTIALS_VAULT_H
#define CREDENTIALS_VAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

#define VAULT_MAX (4u << 20)

struct service {
	char *name;            /* the first part of the path inside: "anthropic" */
	char *url;             /* where its requests go; no slash at the end */
	struct strvec headers; /* names of headers, in lower case, that a secret is put into */
	struct strvec paths;   /* "POST /v1/messages"; see allowed.h */
	struct strvec renews;  /* not empty: it renews log-ins (renew.h) */
	bool tls;              /* clients use its own address, and the proxy answers the TLS (authority.h) */
};

struct secret {
	char *dummy, *real;
	char *service;       /* the name of the service that may get it */
	char *file, *member; /* the user's log-in file that it is from, and its place there; "": a variable */
};

struct vault {
	struct service *services;
	size_t nservices;
	struct secret *secrets;
	size_t nsecrets;
	char *cert, *cert_key; /* the task's certificate authority, as PEM; NULL: none */
};

void vault_release(struct vault *t);
#define auto_vault __attribute__((cleanup(vault_release))) struct vault

/* Adds an empty row, whose strings the caller sets. The pointer is valid until the next one is added. */
struct service *vault_add_service(struct vault *t, const char *name);
void vault_add_secret(struct vault *t, const char *dummy, const char *real, const char *service,
	const char *file, const char *member);
/* NULL if there is none. */
struct service *vault_service(const struct vault *t, const char *name, size_t len);
/* The secret of this service with this dummy; NULL if there is none. */
const struct secret *vault_secret(
	const struct vault *t, const struct service *s, const char *dummy, size_t len);

void vault_pack(const struct vault *t, struct buf *out);
/* Adds packed rows to a table. They replace a service with the same name, and a secret with the same dummy. A certificate
 * authority is kept, since the task knows it. */
int vault_unpack(const char *data, size_t len, struct vault *to, struct err *e);

#endif
