/*
 * Any bytes as a .worktreeinclude file: each line becomes one option for git that is a pattern and nothing else, or none.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "workspace/include.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OPTION "--exclude="

static void check(const char *option, const char *line)
{
	const char *pattern = option + strlen(OPTION);
	size_t n = strlen(option);

	if (strncmp(option, OPTION, strlen(OPTION)) != 0 || !*pattern || *pattern == '#' ||
		strchr(option, '\n'))
		abort();
	if (option[n - 1] == ' ' && option[n - 2] != '\\')
		abort();
	if (strncmp(line, pattern, strlen(pattern)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_str text = xstrndup((const char *)data, size);
	auto_strvec lines = STRVEC_INIT;

	include_lines(text, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		auto_strvec options = STRVEC_INIT;

		include_option(lines.v[i], &options);
		if (options.n > 1)
			abort();
		if (options.n)
			check(options.v[0], lines.v[i]);
	}
	return 0;
}
