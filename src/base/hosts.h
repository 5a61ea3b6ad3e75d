/*
 * The list of a task's network `allow`: which names and ports may be reached.
 *
 *	github.com          that very name, ports 443 and 80
 *	*.crates.io         every name beneath it, whole labels, not crates.io itself
 *	example.org:8443    that port and no other
 *	localhost:8080      the user's own machine: a port of its loopback, which is forwarded
 *	                    (task/network.h)
 *	10.0.0.7, [fd00::7]:443, 10.0.0.0/8
 *	                    addresses: as such, and as what a listed name leads to
 *
 * Names are compared as DNS has them: case and one dot at the end do not count, labels do. Whatever is not a
 * plain name or a plainly written address is refused before it is compared: an address in octal, hexadecimal
 * or as one number, a NUL, a blank, a letter that is not ASCII (punycode is).
 */
#ifndef BASE_HOSTS_H
#define BASE_HOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/strvec.h"

#define HOST_MAX 256

/* A name or an address as it was asked for, made plain: lower case, no dot at the end, no brackets. */
struct host {
	char name[HOST_MAX];
	bool is_address;
	unsigned char address[16]; /* IPv4 as IPv6-mapped */
	uint16_t port;
};

/* False where it is no host. len bytes of text, which need not end in NUL. */
bool host_parse(const char *text, size_t len, uint16_t port, struct host *ret);
/* The same for "host:port"; fallback where no port is given. */
bool host_parse_pair(const char *text, size_t len, uint16_t fallback, struct host *ret);

/* Whether an entry of a list is well-formed. ERR_USAGE. */
int hosts_check(const char *entry, struct err *e);
/* The entry that lets a host through at this port, on the heap; NULL where it is none: then it may be any
 * text, which nobody is to copy. */
char *hosts_entry(const char *host, int port);
/* Whether the list has the host. An address is had where it is listed as one. */
bool hosts_allow(const struct strvec *list, const struct host *h);

/* Ports of the user's own loopback that the list has: by the name localhost, 127.0.0.1 or ::1. How many there
 * are; the first `max` of them are in ret. */
size_t hosts_loopback_ports(const struct strvec *list, uint16_t *ret, size_t max);
/* Whether it is that very machine by one of these names. */
bool host_is_loopback(const struct host *h);
/* At which of its two addresses the list has the port: localhost means both. */
void hosts_loopback(const struct strvec *list, uint16_t port, bool *v4, bool *v6);

/* Whether an address that the name leads to may be connected to: public ones, and others where the list has
 * the address. */
bool hosts_allow_address(const struct strvec *list, const struct host *h, const struct sockaddr *sa);

#endif
