/*
 * The certificate authority of one task. Some clients send a log-in to addresses that cannot be changed (the token service
 * of Claude, Google's). For those hosts the proxy answers TLS itself, and the task trusts this authority for it.
 *
 * `garth-credentials --authority` makes it when a task starts. Its certificate is a file inside; its key is only in memory,
 * and goes to the proxy in the table (vault.h). Even somebody who gets the key can sign only for the hosts that it was made
 * for.
 *
 *	authority_make(hosts, &cert, &key, e)          in the program with --authority
 *	authority_open(cert, key)                      in the proxy, when the first connection arrives
 *	authority_context(a, "platform.claude.com")    for each connection; the same one for the same host
 */
#ifndef CREDENTIALS_AUTHORITY_H
#define CREDENTIALS_AUTHORITY_H

#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

#define AUTHORITY_HOSTS 16

struct authority;

/* Makes key and certificate, as PEM. */
int authority_make(const struct strvec *hosts, struct buf *cert, struct buf *key, struct err *e);
/* On the heap, for as long as the process runs; NULL if the texts are not a certificate and its key. */
struct authority *authority_open(const char *cert, const char *key);
/* The context that answers a connection for this host; NULL if it cannot be made. It belongs to the authority. */
SSL_CTX *authority_context(struct authority *a, const char *host);
/* The program with --authority: reads host names from stdin, one on each line; writes JSON with "cert" and "key" to stdout. */
int authority_main(struct err *e);

#endif
