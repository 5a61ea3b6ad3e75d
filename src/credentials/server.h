/*
 * The credentials proxy of one task: HTTP/1.1 inside, TLS outside. One process with one thread, whose loop also waits for
 * what curl waits for (transfers.h).
 *
 * A request "/SERVICE/path" goes to the service's address and to nowhere else. If a header may carry a secret for this
 * service, and its value is one of our dummies, the secret replaces it. Everything else is passed on as it is.
 * Redirects are passed back, never followed. What the server answers is searched for secrets (scrub.h).
 *
 * Some clients cannot be told another address. The proxy of network `allow` passes their connections on, and they are
 * answered with TLS (authority.h, route.h). The same rules hold for them.
 *
 * Everything that arrives on the listening sockets is hostile. The agent can use the credential while it runs. It
 * cannot read it, send it anywhere else, or use it for paths that are not on the service's list.
 */
#ifndef CREDENTIALS_SERVER_H
#define CREDENTIALS_SERVER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/buf.h"
#include "credentials/authority.h"
#include "credentials/dummy.h"
#include "credentials/head.h"
#include "credentials/scrub.h"
#include "credentials/tls.h"
#include "credentials/transfers.h"
#include "credentials/vault.h"

#define CONNS_MAX    128
#define BODY_MAX     (64u << 20)
#define BODIES_MAX   (256u << 20) /* of all connections together */
#define OUT_HIGH     (512u << 10) /* how much may wait for a client that reads slowly */
#define OUT_SOON     (64u << 10)  /* is sent before the rest of the answer is read */
#define OUT_MAX      (8u << 20)
#define HEAD_SECONDS 60
#define RENEWALS_MAX 4 /* processes at once */
#define IDLE_SECONDS 600

/* The certificates to trust. */
struct trust {
	const char *file;
	struct curl_blob all; /* with the user's additional ones; no data: there are none */
};

struct server {
	struct vault table;
	unsigned char key[DUMMY_KEY_LEN]; /* for dummies of renewed tokens */
	struct transfers transfers;
	struct trust trust;
	struct authority *authority; /* NULL: not opened yet */
	int control, listen[2];
	int over; /* connections that the other proxy passes on (control.h); -1: none */
	struct conn *conns[CONNS_MAX];
	pid_t renewals[RENEWALS_MAX]; /* 0: none */
};

enum conn_state {
	CONN_HEAD,    /* waits for a request */
	CONN_REQUEST, /* one is being answered */
	CONN_LAST,    /* ends when all is written */
};

/* The request at the server, and its answer. */
struct upstream {
	CURL *easy; /* NULL: none */
	struct curl_slist *fields;
	size_t body_sent;
	size_t chunk; /* where in the client's output the open chunk begins; 0: there is none */
	bool read_paused, write_paused;
	struct buf head; /* of the answer */
	struct scrub scrub;
	bool head_done, chunked, no_body;
};

/* A log-in that is being renewed, in a process of its own (renew.h). */
struct renewal {
	pid_t pid; /* 0: none */
	int fd;
	struct buf answer;
	char *file;
};

struct conn {
	struct server *server;
	int fd;
	enum conn_state state;
	struct buf in, out;
	size_t sent; /* of out */
	struct head head;
	struct body framing;
	struct buf body;
	struct tls *tls;  /* NULL: plain HTTP */
	char *host;       /* with TLS: the one that the client asked for */
	ssize_t service;  /* its number in the table; -1: none, the request is passed on as it is */
	const char *path; /* in head.target: what follows the service's address */
	struct upstream up;
	struct renewal renewal;
	bool gone, ended; /* the client has hung up; TLS was told the end */
	time_t since;
};

/* Serves until the control socket ends. The first message on it has a table (in a file in memory) and the listening
 * sockets, later ones have a table that is added. */
int server_run(int control, struct err *e);

/* conn.c */
/* NULL if there are too many; then fd is closed. */
struct conn *conn_open(struct server *s, int fd);
/* The same for one that is to speak TLS. `early` has what the client has sent already. */
void conn_open_tls(struct server *s, int fd, const char *host, const char *early, size_t len);
/* NULL: none. */
const struct service *conn_service(const struct conn *c);
void conn_readable(struct conn *c);
/* Whether to read more from the client: not from one that does not read its answers. */
bool conn_wants_more(const struct conn *c);
bool conn_has_output(const struct conn *c);
/* Works on the bytes that have arrived, as far as possible. */
void conn_work(struct conn *c);
/* Writes as much as possible. Returns false if the client is gone. */
bool conn_write(struct conn *c);
/* The same, and then what follows from it. Returns false if the connection is over; then it is freed. */
bool conn_flush(struct conn *c);
void conn_free(struct conn *c);
/* The answer is complete. */
void conn_answered(struct conn *c);
/* An answer of our own, in the form of the services' errors. */
void conn_refuse(struct conn *c, int status, const char *why);
void conn_reply(struct conn *c, int status, const char *body, size_t len);

/* upstream.c */
bool upstream_start(struct conn *c);
/* More of the request's body has arrived. */
void upstream_more(struct conn *c);
/* Before output is written: ends the chunk that pieces of the answer were added to. */
void upstream_end_chunk(struct conn *c);
/* The client has read. */
void upstream_drained(struct conn *c);
void upstream_done(struct conn *c, CURLcode result);
void upstream_release(struct conn *c);
/* Sets the options of all requests: trust, proxies, limits. */
void upstream_options(CURL *easy, struct trust *trust);
/* The certificates to trust, by the user's variables: CURL_CA_BUNDLE, else SSL_CERT_FILE, else the system's, and those
 * of NODE_EXTRA_CA_CERTS. */
void upstream_trust(struct trust *ret);

#endif
