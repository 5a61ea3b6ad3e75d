/* Rules, one a line, the first character says which kind; the last line is a path. Judging ends, soon, and keeps
 * the promises of rules.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct rules *r, const char *path)
{
	const struct rule *read = rules_read(r, path), *write = rules_write(r, path);
	const char *slash = strrchr(path, '/');

	/* what may not be read may not be written */
	if (read && rule_denies(read) && (!write || !rule_denies(write)))
		abort();
	/* a rule that decides here is one that a walk from above would come to */
	if ((read || write) && slash && slash != path) {
		auto_str dir = xstrndup(path, (size_t)(slash - path));

		if (!rules_are_beneath(r, dir))
			abort();
	}
	if (!r->n && (read || write))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_str text = NULL;
	auto_rules r = { 0 };
	char *line;

	if (size > 4096)
		return 0;
	text = xstrndup((const char *)data, size);
	line = text;
	for (char *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line && line[1])
			rules_add(&r, (enum rule_kind)((unsigned char)*line % RULE_KINDS), line + 1, "");
	}
	if (!strstr(line, "//"))
		check(&r, line);
	return 0;
}
