/* What the gateway answers, as any bytes: HTTP, then JSON; and any bytes that the shim quotes come back from
 * its own reading as they were, or as UTF-8 once and for all. */
#include <stdint.h>

#include "base/alloc.h"
#include "shim/shim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_members(const struct http_answer *a)
{
	static const char *const members[] = { "code", "message", "tried", "instead" };

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		auto_buf out = BUF_INIT(256);

		if (!answer_error(a, members[i], &out) && out.len)
			abort();
		if (out.overflow)
			abort();
	}
	auto_buf output = BUF_INIT(256);

	answer_member(a, "output", &output);
}

static void there_and_back(const char *text, struct buf *out)
{
	auto_http_answer a = ANSWER_INIT;

	buf_addstr(&a.body, "{\"x\":[{}],\"error\":{\"message\":");
	ask_quote(&a.body, text);
	buf_addstr(&a.body, "}}");
	if (!a.body.overflow && !answer_error(&a, "message", out))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf raw = BUF_INIT(1 << 22), once = BUF_INIT(1 << 20), twice = BUF_INIT(1 << 20);
	auto_http_answer a = ANSWER_INIT, body = ANSWER_INIT;

	if (size > 100000)
		return 0;
	buf_add(&raw, data, size);
	if (http_answer_take(buf_str(&raw), size, false, &a) == 1)
		read_members(&a);
	if (http_answer_take(buf_str(&raw), size, true, &a) == 0)
		abort();
	buf_add(&body.body, data, size);
	read_members(&body);
	there_and_back(buf_str(&raw), &once);
	there_and_back(buf_str(&once), &twice);
	if (once.len != twice.len || memcmp(buf_str(&once), buf_str(&twice), once.len) != 0)
		abort();
	return 0;
}
