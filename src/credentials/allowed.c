#include "credentials/allowed.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_bad_escape(const char *p)
{
	/* a slash, a backslash, a dot, the escape itself, the first two with more bytes than they need; all control characters */
	static const char *const bad[] = { "%2f", "%5c", "%2e", "%25", "%c0", "%c1", "%0", "%1", "%7f" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!strncasecmp(p, bad[i], strlen(bad[i])))
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

static int hex(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* Whether the text, up to '=', is this name in lower case, after it is decoded. */
static bool is_name(const char *p, size_t len, const char *name)
{
	const char *end = p + strnlen(p, len), *equals = memchr(p, '=', len);

	if (equals)
		end = equals;
	for (; p < end && *name; p++, name++) {
		int c = (unsigned char)*p;

		if (c == '%' && end - p > 2 && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
			c = hex(p[1]) * 16 + hex(p[2]);
			p += 2;
		}
		if (tolower(c) != *name)
			return false;
	}
	return p == end && !*name;
}

/* Whether a member of the query has a name by which servers take another method or other headers: those of Google,
 * of frameworks. */
static bool is_overriding(const char *name, size_t len)
{
	static const char *const names[] = { "$httpmethod", "$httpheaders", "_method",
		"x-http-method-override" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_name(name, len, names[i]))
			return true;
	return false;
}

static bool query_is_plain(const char *query)
{
	while (*query) {
		size_t len;

		query += strspn(query, "?&;");
		len = strcspn(query, "&;");
		if (is_overriding(query, len))
			return false;
		query += len;
	}
	return true;
}

bool request_allowed(const struct strvec *rows, const char *method, const char *path)
{
	size_t len = strcspn(path, "?");

	if (!query_is_plain(path + len))
		return false;
	for (size_t i = 0; i < rows->n; i++)
		if (row_allows(rows->v[i], method, path, len))
			return true;
	return false;
}
