/*
 * curl's side of the loop. curl says which descriptors it waits for, and until when; the loop waits for them with its own.
 *
 *	transfers_open(&t, e)
 *	n = transfers_watch(&t, fds)              its descriptors, at most TRANSFERS_FDS
 *	poll(…, transfers_wait(&t, POLL_MS))
 *	transfers_serve(&t, fds, n)               curl works on what is ready
 *
 * OpenSSL takes as many records at once from the kernel as there are. Those it has taken wait in its buffer, about which
 * poll says nothing. So records are counted, and a descriptor is served again until no more come.
 */
#ifndef CREDENTIALS_TRANSFERS_H
#define CREDENTIALS_TRANSFERS_H

#include <curl/curl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TRANSFERS_FDS 512

struct transfers {
	CURLM *curl;
	struct watched {
		int fd;
		short events;
		bool again; /* OpenSSL may have more of it */
	} watched[TRANSFERS_FDS];
	size_t n;
	int64_t due;           /* when curl wants to be called, by clock_ms; -1: it does not */
	unsigned long records; /* that OpenSSL has read */
};

/* t must stay where it is. */
int transfers_open(struct transfers *t, struct err *e);
/* For each request, before it is added to t->curl. */
void transfers_prepare(struct transfers *t, CURL *easy);
/* A request that was paused continues. */
void transfers_resumed(struct transfers *t);
size_t transfers_watch(const struct transfers *t, struct pollfd *fds);
/* How long to wait, at most ms. */
int transfers_wait(const struct transfers *t, int ms);
void transfers_serve(struct transfers *t, const struct pollfd *fds, size_t n);

#endif
