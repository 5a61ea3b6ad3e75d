/* The JSON of a hook, and the text of a shell, as any bytes: they are read within their bounds, and a refusal has all of its
 * three lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool refused, const struct refusal *r)
{
	if (refused && (!*r->reason || !*r->tried || !*r->instead))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct facts facts = { .branch = "refs/heads/garth/t",
		.target = "refs/heads/main",
		.workspace = "/home/u/src/app",
		.home = "/home/u",
		.tmp = "/tmp",
		.project = "/home/u/app",
		.garth_home = "/home/u/.garth",
		.network = "none" };
	const struct guard g = { .facts = &facts, .dir = "/run/garth", .operations = "" };
	char *copy = malloc(size ? size : 1);
	struct buf line = BUF_SMALL;
	struct refusal r = { 0 };

	/* in an allocation of its own, so that a read beyond its end is seen */
	memcpy(copy, data, size);
	check(guard_decide(&g, copy, size, &r) == DECISION_REFUSE, &r);
	after_explain(&g, copy, size, &line);
	buf_release(&line);
	r = (struct refusal){ 0 };
	check(shell_refused(&g, copy, size, "/home/u/src/app/sub", &r), &r);
	free(copy);
	return 0;
}
