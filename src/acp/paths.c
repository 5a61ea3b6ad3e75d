#include "acp/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "task/directory.h"

void paths_release(struct paths *p)
{
	free(p->top);
	free(p->main_top);
	free(p->workspace);
	*p = (struct paths){ 0 };
}

/* What follows dir in the path, with its slash; NULL if the path is not in it. */
static const char *rest_in(const char *path, const char *dir)
{
	return dir && path_within(path, dir) ? path + strlen(dir) : NULL;
}

static const char *rest_in_project(const struct paths *p, const char *path)
{
	const char *rest = rest_in(path, p->workspace);

	if (!rest)
		rest = rest_in(path, p->top);
	return rest ? rest : rest_in(path, p->main_top);
}

char *paths_inside(const struct paths *p, const char *path)
{
	auto_str clean = *path == '/' && strlen(path) < PATH_MAX ? directory_clean(path) : NULL, real = NULL;
	const char *rest = clean ? rest_in_project(p, clean) : NULL;

	if (!rest && clean && (real = canonicalize_file_name(clean)))
		rest = rest_in_project(p, real);
	return rest ? xasprintf("%s%s", p->workspace, rest) : NULL;
}

bool paths_is_inside(const struct paths *p, const char *path)
{
	auto_str clean = *path == '/' ? directory_clean(path) : NULL;

	return clean && path_within(clean, p->workspace);
}

/* The path in a file URI, still with its escapes; NULL if it is none. */
static const char *path_of(const char *uri)
{
	const char *p;

	if (*uri == '/')
		return uri;
	if (strncasecmp(uri, "file:", 5) != 0)
		return NULL;
	p = uri + 5;
	if (!strncmp(p, "//", 2)) {
		p += 2;
		if (!strncasecmp(p, "localhost/", 10))
			p += 9;
	}
	return p;
}

bool paths_uri_is_file(const char *uri)
{
	return path_of(uri) != NULL;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'                     ? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							: -1;
}

/* False if an escape is malformed, or is a NUL. */
static bool decode(const char *s, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		int high, low;

		if (s[i] != '%') {
			buf_addch(out, s[i]);
			continue;
		}
		high = i + 2 < len ? hex(s[i + 1]) : -1;
		low = i + 2 < len ? hex(s[i + 2]) : -1;
		if (high < 0 || low < 0 || !(high | low))
			return false;
		buf_addch(out, (char)(high << 4 | low));
		i += 2;
	}
	return !out->overflow;
}

static void encode(const char *path, struct buf *out)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/@+,=:";

	for (; *path; path++) {
		if (strchr(plain, *path))
			buf_addch(out, *path);
		else
			buf_printf(out, "%%%02X", (unsigned char)*path);
	}
}

char *paths_uri_inside(const struct paths *p, const char *uri)
{
	auto_buf path = BUF_SMALL, out = BUF_INIT(256 << 10);
	const char *at = path_of(uri);
	auto_str inside = NULL;
	size_t len;

	if (!at)
		return NULL;
	len = strcspn(at, "?#");
	if (!decode(at, len, &path) || !(inside = paths_inside(p, buf_str(&path))))
		return NULL;
	buf_addstr(&out, "file://");
	encode(inside, &out);
	buf_addstr(&out, at + len);
	return out.overflow ? NULL : buf_steal(&out);
}
