/*
 * The certificate authority of one task. Some clients send a log-in to addresses that cannot be changed (the token service
 * of Claude, Google's). For those hosts the proxy answers TLS itself, and the task trusts this authority for it.
 *
 * It is made when a task starts, by `garth-credentials --authority`. Its certificate is a file inside; its key is in memory
 * only, and goes to the proxy in the table (vault.h). It can sign for the hosts that it was made for and for no others,
 * whoever gets the key.
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
/* On the heap, for as long as the process runs; NULL if the texts are no certificate and its key. */
struct authority *authority_open(const char *cert, const char *key);
/* What a connection for this host is answered with; NULL if that cannot be made. It belongs to the authority. */
SSL_CTX *authority_context(struct authority *a, const char *host);
/* The program: names of hosts on stdin, one a line; JSON with "cert" and "key" on stdout. */
int authority_main(struct err *e);

#endif
