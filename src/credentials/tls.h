/*
 * The server side of TLS on a connection from inside. tls_read decrypts what arrives, tls_write encrypts the answer; they
 * behave like recv and send with MSG_DONTWAIT on a socket. The handshake happens in them.
 */
#ifndef CREDENTIALS_TLS_H
#define CREDENTIALS_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

struct tls;

/* `early` has what the client has sent already. NULL if there is no memory. */
struct tls *tls_new(SSL_CTX *ctx, const char *early, size_t len);
void tls_free(struct tls *t);

/* 0: the client has ended it. -1 and errno: EAGAIN, or it failed. */
ssize_t tls_read(struct tls *t, int fd, char *to, size_t room);
ssize_t tls_write(struct tls *t, int fd, const char *data, size_t len);
/* Writes what is encrypted already; -1 and errno. */
int tls_flush(struct tls *t, int fd);
/* Tells the client that no more is written. */
void tls_end(struct tls *t);
/* Whether tls_flush has something to do. */
bool tls_wants_to_write(const struct tls *t);
/* Whether tls_read can return something without waiting for the socket. */
bool tls_has_more(const struct tls *t);

#endif
