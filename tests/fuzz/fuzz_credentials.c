/* Any bytes as a request to the credentials proxy, and as a log-in file: a head that is taken has one meaning, its body
 * ends where it says and it goes to one service; and a value that is found in a file is inside it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "credentials/allowed.h"
#include "credentials/head.h"
#include "credentials/member.h"
#include "credentials/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_head(const struct head *h, const char *text, size_t size)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct body b;
	ssize_t n;

	check(h->used >= 4 && h->used <= size && !memcmp(text + h->used - 4, "\r\n\r\n", 4));
	check(*h->target == '/' && h->names.n == h->values.n && h->names.n <= HEAD_FIELDS);
	check(!(h->chunked && h->length >= 0));
	for (size_t i = 0; i < h->names.n; i++)
		check(*h->names.v[i] && !strpbrk(h->names.v[i], " \t\r\n:") &&
			!strpbrk(h->values.v[i], "\r\n"));
	if (path_is_plain(h->target))
		check(!strstr(h->target, "/../") || strchr(h->target, '?') < strstr(h->target, "/../"));
	body_begin(&b, h);
	n = body_take(&b, h, text + h->used, size - h->used, &out);
	check(n <= (ssize_t)(size - h->used) && (ssize_t)out.len <= (ssize_t)(size - h->used));
	if (n >= 0 && b.done && !h->chunked)
		check((int64_t)out.len == (h->length > 0 ? h->length : 0));
}

/* A service gets what is on its list and nothing else, whichever way the request came. */
static void check_route(const struct head *h, const char *host)
{
	auto_vault v = { 0 };
	struct service *s = vault_add_service(&v, "a");
	struct route r;

	free(s->url);
	s->url = xstrdup("https://a.example/v1");
	s->tls = true;
	strvec_push(&s->paths, "POST /messages");
	if (!route_find(&v, h, host, &r)) {
		check(r.status >= 400 && r.why);
		return;
	}
	check(r.path >= h->target && r.path <= h->target + strlen(h->target));
	check(r.service == -1 ? host != NULL
			      : !strcmp(h->method, "POST") && !strncmp(r.path, "/messages", 9));
	if (r.service == 0)
		check(r.path - h->target == (host ? 3 : 2) && (!r.path[9] || r.path[9] == '?'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t start, end;
	struct head h;
	int rc = head_parse(text, size, &h);

	check(rc >= -1 && rc <= 1);
	if (rc == 1) {
		check_head(&h, text, size);
		check_route(&h, NULL);
		check_route(&h, "a.example");
	}
	check(rc >= 0 || (h.status >= 400 && h.why));
	head_release(&h);
	if (member_find(text, size, "tokens.access_token", &start, &end))
		check(start < end && end <= size);
	return 0;
}
