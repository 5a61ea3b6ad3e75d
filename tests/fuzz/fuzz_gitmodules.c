/*
 * Any bytes as a .gitmodules file: read to the end or refused, and no name or path comes out that could lead
 * out of a directory, be taken for an option, or end a line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "git/gitmodules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *s)
{
	auto_strvec parts = STRVEC_INIT;

	if (!*s || *s == '/' || *s == '-' || strpbrk(s, "\n\r\t\\") || strstr(s, "//") || strlen(s) >= 4096)
		abort();
	for (const char *p = s; *p; p += strcspn(p, "/"), p += *p == '/')
		strvec_pushn(&parts, p, strcspn(p, "/"));
	for (size_t i = 0; i < parts.n; i++)
		if (!strcmp(parts.v[i], ".") || !strcmp(parts.v[i], "..") || !strcasecmp(parts.v[i], ".git"))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_strvec parsed = STRVEC_INIT;

	gitmodules_parse((const char *)data, size, &parsed);
	if (parsed.n % 2)
		abort();
	for (size_t i = 0; i < parsed.n; i++)
		check(parsed.v[i]);
	for (size_t i = 1; i < parsed.n; i += 2)
		if (!gitmodules_name(&parsed, parsed.v[i]))
			abort();
	return 0;
}
