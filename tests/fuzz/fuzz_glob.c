/* A glob, a newline, a path: matching ends, and soon, and keeps the promises of policy.h. */
#include <stdint.h>

#include "base/alloc.h"
#include "base/glob.h"
#include "publish/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *glob, const char *path)
{
	auto_str beneath = xasprintf("%s/x", path), deeper = xasprintf("d/%s", path);
	bool matches = glob_matches(glob, path);

	glob_is_above(glob, path);
	/* a match of a directory covers all beneath it */
	if (matches && !glob_matches(glob, beneath))
		abort();
	/* a glob without a slash matches at any depth */
	if (matches && !strchr(glob, '/') && !glob_matches(glob, deeper))
		abort();
	/* what has nothing special in it matches itself */
	if (*path && *path != '/' && path[strlen(path) - 1] != '/' && !strpbrk(path, "*?[\\") &&
		!glob_matches(path, path))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	auto_str glob = NULL, path = NULL;

	if (!line || size > 8192)
		return 0;
	glob = xstrndup((const char *)data, (size_t)(line - data));
	path = xstrndup((const char *)line + 1, size - (size_t)(line - data) - 1);
	check(glob, path);
	return 0;
}
