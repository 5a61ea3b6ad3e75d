/*
 * The list of a task's network `allow`: which hosts and ports the task may connect to.
 *
 *	github.com          exactly this name, ports 443 and 80
 *	*.crates.io         every name beneath it, by whole labels, but not crates.io itself
 *	example.org:8443    this port and no other
 *	localhost:8080      a loopback port of the user's machine, which is forwarded (task/network.h)
 *	10.0.0.7, [fd00::7]:443, 10.0.0.0/8
 *	                    addresses: to connect to directly, or as the result of resolving a listed name
 *
 * Names are compared as in DNS: case and one dot at the end are ignored. Everything that is not a plain name
 * or a plainly written address is refused before it is compared: an address in octal, in hexadecimal or as a
 * single number, a NUL, a blank, a letter outside ASCII (punycode is allowed).
 */
#ifndef BASE_HOSTS_H
#define BASE_HOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/strvec.h"

#define HOST_MAX 256

/* A requested name or address in normal form: lower case, no dot at the end, no brackets. */
struct host {
	char name[HOST_MAX];
	bool is_address;
	unsigned char address[16]; /* IPv4 as IPv6-mapped */
	uint16_t port;
};

/* False if the text is no host. The text has len bytes and need not end in NUL. */
bool host_parse(const char *text, size_t len, uint16_t port, struct host *ret);
/* The same for "host:port"; `fallback` is the port if none is given. */
bool host_parse_pair(const char *text, size_t len, uint16_t fallback, struct host *ret);

/* Whether an entry of a list is well-formed. ERR_USAGE. */
int hosts_check(const char *entry, struct err *e);
/* The list entry that allows a host at this port; the caller frees it. NULL if `host` is not a valid host, or
 * looks like an option: then it may be any text, and must not be suggested to the user. */
char *hosts_entry(const char *host, int port);
/* What the user may have meant if the list does not allow a host. */
enum hosts_near {
	HOSTS_FAR,      /* nothing on the list is like it */
	HOSTS_PORT,     /* the list has other ports of it */
	HOSTS_SPELLING, /* the list has a name that differs by one letter, or by two that are swapped */
	HOSTS_ABOVE,    /* the list has "*.NAME", and NAME itself was asked for */
};
/* *ret_entry is that entry of the list; NULL with HOSTS_FAR. */
enum hosts_near hosts_near(const struct strvec *list, const struct host *h, const char **ret_entry);
/* Whether the list allows the host. An address is allowed only if it is listed as an address. */
bool hosts_allow(const struct strvec *list, const struct host *h);

/* The ports of the user's loopback that the list has, under the name localhost, 127.0.0.1 or ::1. Returns how
 * many there are; the first `max` of them are in ret. */
size_t hosts_loopback_ports(const struct strvec *list, uint16_t *ret, size_t max);
/* Whether the host is the user's machine, under one of these names. */
bool host_is_loopback(const struct host *h);
/* Which of the two loopback addresses the list allows for the port. localhost means both. */
void hosts_loopback(const struct strvec *list, uint16_t port, bool *v4, bool *v6);

/* Whether an address to which a listed name resolves may be connected to. Public addresses may; others only
 * if the list has the address. */
bool hosts_allow_address(const struct strvec *list, const struct host *h, const struct sockaddr *sa);

#endif
