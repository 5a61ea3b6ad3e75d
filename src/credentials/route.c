#include "credentials/route.h"

#include <string.h>

#include "credentials/allowed.h"
#include "credentials/dummy.h"

static bool refuse(struct route *r, int status, const char *why)
{
	r->status = status;
	r->why = why;
	return false;
}

static bool by_name(const struct vault *t, const struct head *h, struct route *r)
{
	const char *name = h->target + 1;
	size_t len = strcspn(name, "/?");
	const struct service *s = vault_service(t, name, len);

	if (!s)
		return refuse(r, 404, "there is no such service in this task");
	if (!request_allowed(&s->paths, h->method, name + len))
		return refuse(r, 403, "this request is not on the service's list");
	r->service = s - t->services;
	r->path = name + len;
	return true;
}

/* How many bytes of the target belong to the service's address; -1: it is another host or another path. */
static ssize_t match(const struct service *s, const char *host, const char *target)
{
	size_t n = strlen(host), len;

	if (!s->tls || strncmp(s->url, "https://", 8) || strncmp(s->url + 8, host, n))
		return -1;
	len = strlen(s->url + 8 + n);
	if (len && (s->url[8 + n] != '/' || strncmp(target, s->url + 8 + n, len)))
		return -1;
	return target[len] && !strchr("/?", target[len]) ? -1 : (ssize_t)len;
}

static bool has_dummy(const struct head *h)
{
	for (size_t i = 0; i < h->values.n; i++)
		if (dummy_in(h->values.v[i], strlen(h->values.v[i])))
			return true;
	return dummy_in(h->target, strlen(h->target));
}

static bool by_host(const struct vault *t, const struct head *h, const char *host, struct route *r)
{
	ssize_t longest = -1;

	for (size_t i = 0; i < t->nservices; i++) {
		ssize_t len = match(&t->services[i], host, h->target);

		if (len <= longest || !request_allowed(&t->services[i].paths, h->method, h->target + len))
			continue;
		longest = len;
		r->service = (ssize_t)i;
		r->path = h->target + len;
	}
	if (r->service < 0 && has_dummy(h))
		return refuse(r, 403, "the log-in cannot be used for this request");
	return true;
}

bool route_find(const struct vault *t, const struct head *h, const char *host, struct route *ret)
{
	*ret = (struct route){ .service = -1, .path = h->target };
	if (!path_is_plain(h->target))
		return refuse(ret, 400, "the path is ambiguous");
	if (h->upgrade)
		return refuse(ret, 426, "only plain HTTP is spoken here");
	return host ? by_host(t, h, host, ret) : by_name(t, h, ret);
}
