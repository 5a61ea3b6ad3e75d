/* Any bytes as what a client says to the proxy, and as an entry of its list: what is taken for a host is
 * plain, and a name is never allowed by an empty list. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "egress/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_host(const struct host *h)
{
	const struct strvec none = STRVEC_INIT;

	check(strlen(h->name) > 0 && strlen(h->name) < HOST_MAX && h->port);
	check(strspn(h->name, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") == strlen(h->name));
	check(h->is_address || !strchr(h->name, ':'));
	check(!hosts_allow(&none, h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_str text = xstrndup((const char *)data, size);
	auto_strvec list = STRVEC_INIT;
	struct err e = ERR_INIT;
	struct host h;

	strvec_push(&list, text);
	for (int greeted = 0; greeted < 2; greeted++) {
		struct request r;
		int rc = request_parse((const char *)data, size, greeted, &r);

		check(rc >= -1 && rc <= 2 && r.used <= size);
		if (rc == 1) {
			check_host(&r.host);
			hosts_allow(&list, &r.host);
		}
		request_release(&r);
	}
	if (host_parse_pair(text, strlen(text), 443, &h))
		check_host(&h);
	hosts_check(text, &e);
	return 0;
}
