#include "credentials/allowed.h"

#include <string.h>
#include <strings.h>

static bool is_bad_escape(const char *p)
{
	/* a slash, a backslash, a dot, a NUL, the escape itself */
	static const char *const bad[] = { "%2f", "%5c", "%2e", "%00", "%25" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!strncasecmp(p, bad[i], 3))
			return true;
	return false;
}

bool path_is_plain(const char *path)
{
	size_t len = strcspn(path, "?");

	if (*path != '/')
		return false;
	for (const char *p = path; *p; p++)
		if (*p <= ' ' || *p >= 127 || strchr("\\#\"<>^`{|}", *p))
			return false;
	for (const char *p = path; p < path + len; p++) {
		if (*p == '%' && is_bad_escape(p))
			return false;
		if (*p != '/')
			continue;
		/* "//", "/.", "/./", "/.." */
		if (p + 1 < path + len && (p[1] == '/' || p[1] == '.'))
			return false;
	}
	return true;
}

static bool row_allows(const char *row, const char *method, const char *path, size_t len)
{
	const char *space = strchr(row, ' '), *allowed = space ? space + 1 : row;
	size_t n = strlen(allowed), method_len = space ? (size_t)(space - row) : 0;

	if (strcmp(row, "*") && strncmp(row, "* ", 2) &&
		(strlen(method) != method_len || strncmp(row, method, method_len)))
		return false;
	if (n && allowed[n - 1] == '/' && len >= n)
		return !strncmp(path, allowed, n);
	return len == n && !strncmp(path, allowed, n);
}

bool request_allowed(const struct strvec *rows, const char *method, const char *path)
{
	size_t len = strcspn(path, "?");

	for (size_t i = 0; i < rows->n; i++)
		if (row_allows(rows->v[i], method, path, len))
			return true;
	return false;
}
