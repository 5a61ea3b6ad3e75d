#include "base/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const unsigned char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static bool is_v4(const unsigned char a[16])
{
	return !memcmp(a, mapped, sizeof(mapped));
}

static bool parse_address(const char *text, unsigned char ret[16])
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, text, &four) == 1) {
		memcpy(ret, mapped, sizeof(mapped));
		memcpy(ret + 12, &four, 4);
		return true;
	}
	if (inet_pton(AF_INET6, text, &six) != 1)
		return false;
	memcpy(ret, &six, 16);
	return true;
}

/* Letters, digits, '-' and '_', in labels of at most 63 characters. */
static bool is_name(const char *s)
{
	size_t label = 0;

	for (; *s; s++) {
		if (*s == '.' ? !label : !isalnum((unsigned char)*s) && *s != '-' && *s != '_')
			return false;
		label = *s == '.' ? 0 : label + 1;
		if (label > 63)
			return false;
	}
	return label > 0;
}

/* A resolver may read a name that ends in a number as an address: 127.1, 0x7f000001, 2130706433. */
static bool looks_like_address(const char *name)
{
	const char *last = strrchr(name, '.');

	last = last ? last + 1 : name;
	if (last[0] == '0' && (last[1] == 'x' || last[1] == 'X'))
		return true;
	return strspn(last, "0123456789") == strlen(last);
}

bool host_parse(const char *text, size_t len, uint16_t port, struct host *ret)
{
	*ret = (struct host){ .port = port };
	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
		if (!memchr(text, ':', len))
			return false;
	}
	if (!len || len >= HOST_MAX || memchr(text, '\0', len) || !port)
		return false;
	for (size_t i = 0; i < len; i++)
		ret->name[i] = (char)tolower((unsigned char)text[i]);
	if (parse_address(ret->name, ret->address)) {
		ret->is_address = true;
		return true;
	}
	if (ret->name[len - 1] == '.')
		ret->name[len - 1] = '\0';
	return is_name(ret->name) && !looks_like_address(ret->name);
}

/* A port in plain digits; 0 if it is none. */
static uint16_t parse_port(const char *text, size_t len)
{
	unsigned n = 0;

	if (!len || len > 5)
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return 0;
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	return n <= UINT16_MAX ? (uint16_t)n : 0;
}

bool host_parse_pair(const char *text, size_t len, uint16_t fallback, struct host *ret)
{
	const char *colon = memrchr(text, ':', len), *bracket = memrchr(text, ']', len);

	if (!colon || (bracket && bracket > colon))
		return host_parse(text, len, fallback, ret);
	/* an IPv6 address has more than one colon, and must be in brackets */
	if (!bracket && memchr(text, ':', (size_t)(colon - text)))
		return false;
	return host_parse(
		text, (size_t)(colon - text), parse_port(colon + 1, (size_t)(text + len - colon - 1)), ret);
}

/* One parsed entry of the list. */
struct rule {
	bool beneath;  /* "*.…" */
	unsigned bits; /* the length of the address prefix; 128 for a single address */
	bool any_port; /* no port was given: 443 and 80 */
	struct host host;
};

static bool parse_range(const char *entry, const char *slash, struct rule *ret)
{
	size_t digits = strspn(slash + 1, "0123456789");
	unsigned bits = digits && digits < 4 ? (unsigned)atoi(slash + 1) : 1000;

	if (slash[1 + digits] || !host_parse(entry, (size_t)(slash - entry), 443, &ret->host) ||
		!ret->host.is_address)
		return false;
	ret->any_port = true;
	ret->bits = is_v4(ret->host.address) ? bits + 96 : bits;
	return ret->bits <= 128;
}

static bool parse_rule(const char *entry, struct rule *ret)
{
	const char *slash = strchr(entry, '/');
	size_t len = strlen(entry);

	*ret = (struct rule){ .bits = 128 };
	if (slash)
		return parse_range(entry, slash, ret);
	if (!strncmp(entry, "*.", 2)) {
		ret->beneath = true;
		entry += 2;
		len -= 2;
	}
	if (host_parse(entry, len, 443, &ret->host))
		ret->any_port = true;
	else if (!host_parse_pair(entry, len, 0, &ret->host))
		return false;
	return !ret->beneath || !ret->host.is_address;
}

int hosts_check(const char *entry, struct err *e)
{
	struct rule r;

	/* most likely an option in the wrong place */
	if (*entry != '-' && parse_rule(entry, &r))
		return 0;
	return err_set(e, ERR_USAGE,
		"'%.200s' is not a host: a name, *.name or an address is meant, perhaps :port", entry);
}

char *hosts_entry(const char *host, int port)
{
	bool usual = port == 443 || port == 80;
	struct host h;

	if (port <= 0 || port > UINT16_MAX || !host_parse(host, strlen(host), (uint16_t)port, &h) ||
		h.name[0] == '-')
		return NULL;
	if (strchr(h.name, ':'))
		return usual ? xasprintf("[%s]", h.name) : xasprintf("[%s]:%d", h.name, port);
	return usual ? xstrdup(h.name) : xasprintf("%s:%d", h.name, port);
}

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
	unsigned char rest = (unsigned char)(0xff << (8 - bits % 8));

	return !memcmp(a, b, bits / 8) && (!(bits % 8) || !((a[bits / 8] ^ b[bits / 8]) & rest));
}

static bool is_beneath(const char *name, const char *parent)
{
	size_t n = strlen(name), p = strlen(parent);

	return n > p + 1 && name[n - p - 1] == '.' && !strcmp(name + n - p, parent);
}

static bool has_port(const struct rule *r, uint16_t port)
{
	return r->any_port ? port == 443 || port == 80 : port == r->host.port;
}

static bool matches(const struct rule *r, const struct host *h)
{
	if (!has_port(r, h->port) || r->host.is_address != h->is_address)
		return false;
	if (h->is_address)
		return same_bits(r->host.address, h->address, r->bits);
	return r->beneath ? is_beneath(h->name, r->host.name) : !strcmp(h->name, r->host.name);
}

bool hosts_allow(const struct strvec *list, const struct host *h)
{
	struct rule r;

	for (size_t i = 0; i < list->n; i++)
		if (parse_rule(list->v[i], &r) && matches(&r, h))
			return true;
	return false;
}

/* Whether one letter is wrong, missing or too many, or two are swapped. Names that differ in a digit are
 * different machines. */
static bool is_misspelt(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);

	while (*a && *a == *b)
		a++, b++, na--, nb--;
	while (na && nb && a[na - 1] == b[nb - 1])
		na--, nb--;
	for (size_t i = 0; i < na + nb; i++)
		if (isdigit((unsigned char)(i < na ? a[i] : b[i - na])))
			return false;
	if (na == 2 && nb == 2)
		return a[0] == b[1] && a[1] == b[0];
	return na <= 1 && nb <= 1 && na + nb;
}

static enum hosts_near near(const struct rule *r, const struct host *h)
{
	struct host there = *h;

	there.port = r->host.port;
	if (matches(r, &there))
		return HOSTS_PORT;
	if (h->is_address || r->host.is_address)
		return HOSTS_FAR;
	if (r->beneath)
		return !strcmp(r->host.name, h->name) ? HOSTS_ABOVE : HOSTS_FAR;
	return is_misspelt(r->host.name, h->name) ? HOSTS_SPELLING : HOSTS_FAR;
}

enum hosts_near hosts_near(const struct strvec *list, const struct host *h, const char **ret_entry)
{
	enum hosts_near best = HOSTS_FAR;

	*ret_entry = NULL;
	for (size_t i = 0; i < list->n && best != HOSTS_PORT; i++) {
		struct rule r;
		enum hosts_near n = parse_rule(list->v[i], &r) ? near(&r, h) : HOSTS_FAR;

		if (n == HOSTS_FAR || (best != HOSTS_FAR && n != HOSTS_PORT))
			continue;
		best = n;
		*ret_entry = list->v[i];
	}
	return best;
}

/* Ranges of addresses that are not public: {first bytes, length of the prefix}. */
static const struct range {
	unsigned char first[16];
	unsigned bits;
} not_public[] = {
#define V4(a, b, c, d, n)                                                                                    \
	{                                                                                                    \
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d }, 96 + (n)                           \
	}
	V4(0, 0, 0, 0, 8),
	V4(10, 0, 0, 0, 8),
	V4(100, 64, 0, 0, 10),
	V4(127, 0, 0, 0, 8),
	V4(169, 254, 0, 0, 16),
	V4(172, 16, 0, 0, 12),
	V4(192, 0, 0, 0, 24),
	V4(192, 0, 2, 0, 24),
	V4(192, 88, 99, 0, 24),
	V4(192, 168, 0, 0, 16),
	V4(198, 18, 0, 0, 15),
	/* services that a cloud offers on each of its machines */
	V4(168, 63, 129, 16, 32),
	V4(198, 51, 100, 0, 24),
	V4(203, 0, 113, 0, 24),
	V4(224, 0, 0, 0, 3),
#undef V4
	/* Inside IPv6's public range (below): Teredo and 6to4 contain an IPv4 address, the others are for
	 * documentation. */
	{ { 0x20, 0x01, 0x00, 0x00 }, 23 },
	{ { 0x20, 0x02 }, 16 },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 },
	{ { 0x3f, 0xff }, 20 },
};

static bool is_public(const unsigned char a[16])
{
	/* only 2000::/3 of IPv6 is assigned for public use */
	if (!is_v4(a) && (a[0] & 0xe0) != 0x20)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(not_public); i++)
		if (same_bits(not_public[i].first, a, not_public[i].bits))
			return false;
	return true;
}

static const unsigned char loopback4[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1 };
static const unsigned char loopback6[16] = { [15] = 1 };

bool host_is_loopback(const struct host *h)
{
	if (!h->is_address)
		return !strcmp(h->name, "localhost");
	return !memcmp(h->address, loopback4, 16) || !memcmp(h->address, loopback6, 16);
}

static void add_port(uint16_t *ports, size_t max, size_t *n, uint16_t port)
{
	for (size_t i = 0; i < *n && i < max; i++)
		if (ports[i] == port)
			return;
	if (*n < max)
		ports[*n] = port;
	++*n;
}

size_t hosts_loopback_ports(const struct strvec *list, uint16_t *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct rule r;

		if (!parse_rule(list->v[i], &r) || r.beneath || r.bits != 128 || !host_is_loopback(&r.host))
			continue;
		add_port(ret, max, &n, r.host.port);
		if (r.any_port)
			add_port(ret, max, &n, 80);
	}
	return n;
}

void hosts_loopback(const struct strvec *list, uint16_t port, bool *v4, bool *v6)
{
	struct host name = { .name = "localhost", .port = port };
	struct host a4 = { .is_address = true, .port = port }, a6 = a4;
	bool both = hosts_allow(list, &name);

	memcpy(a4.address, loopback4, 16);
	memcpy(a6.address, loopback6, 16);
	*v4 = both || hosts_allow(list, &a4);
	*v6 = both || hosts_allow(list, &a6);
}

bool hosts_allow_address(const struct strvec *list, const struct host *h, const struct sockaddr *sa)
{
	struct host address = { .is_address = true, .port = h->port };

	if (sa->sa_family == AF_INET) {
		memcpy(address.address, mapped, sizeof(mapped));
		memcpy(address.address + 12, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(address.address, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
	} else {
		return false;
	}
	return is_public(address.address) || hosts_allow(list, &address);
}
