/* Any bytes as what is asked of the API of `garth serve`: up to the first line break the path, behind it the
 * query. What becomes words of a command begins with one that is known, and has no option that was not put
 * there; what does not is refused with a reason. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "serve/routes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_words(const struct strvec *args)
{
	static const char *const known[] = { "ls", "show", "diff", "audit", "mcp" };
	struct err e = ERR_INIT;
	bool found = false;
	size_t i = 2;

	for (size_t j = 0; j < ARRAY_SIZE(known); j++)
		found |= !strcmp(args->v[0], known[j]);
	check(found && args->n >= 2 &&
			(!strcmp(args->v[1], "--json") ||
				(!strcmp(args->v[0], "mcp") && !strcmp(args->v[1], "--http"))),
		"an odd command");
	if (!strcmp(args->v[0], "ls")) {
		check(args->n == 3 && !strcmp(args->v[2], "--all-projects"), "an odd list");
		i = 3;
	}
	if (!strcmp(args->v[0], "audit")) {
		check(args->n >= 4 && !strcmp(args->v[2], "-n") && atoi(args->v[3]) > 0 &&
				atoi(args->v[3]) <= (int)ROUTES_LINES_MAX,
			"an odd number");
		i = 4;
	}
	check(i == args->n || (i + 2 == args->n && !strcmp(args->v[i], "--") &&
				      !name_check_task(args->v[i + 1], &e)),
		"an odd word");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_str text = xstrndup((const char *)data, size);
	char *query = strchr(text, '\n');
	auto_strvec args = STRVEC_INIT;
	struct denial why = { 0 };

	if (query)
		*query++ = '\0';
	if (routes_find(text, query, &args, &why) == 0)
		check_words(&args);
	else
		check((why.status == 400 || why.status == 404) && *why.code && *why.message, "no reason");
	return 0;
}
