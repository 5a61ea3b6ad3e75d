/* Any bytes as a request to the credentials proxy, and as a log-in file: a head that is taken has one meaning, its body
 * ends where it says, and a value that is found in a file is inside it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "credentials/allowed.h"
#include "credentials/head.h"
#include "credentials/member.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t start, end;
	struct head h;
	int rc = head_parse(text, size, &h);

	check(rc >= -1 && rc <= 1);
	if (rc == 1)
		check_head(&h, text, size);
	check(rc >= 0 || (h.status >= 400 && h.why));
	head_release(&h);
	if (member_find(text, size, "tokens.access_token", &start, &end))
		check(start < end && end <= size);
	return 0;
}
