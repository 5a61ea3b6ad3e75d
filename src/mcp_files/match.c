/* Globs as minimatch has them: braces, "**" as a whole part of the path, "*", "?", classes, "!" in front. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"

#define BRACES_MAX 200
#define WORK_MAX   100000

/* One character of UTF-8. */
static size_t char_len(const char *s)
{
	size_t n = 1;

	while (((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* A class at g, "[…]": whether c is in it, and where it ends; NULL if it is none. */
static const char *match_class(const char *g, unsigned char c, bool *ret)
{
	bool not = g[1] == '!' || g[1] == '^', in = false;
	const char *p = g + 1 + not ;

	do {
		unsigned char from, to;

		if (*p == '\\' && p[1])
			p++;
		if (!*p || *p == '/')
			return NULL;
		from = to = (unsigned char)*p++;
		if (*p == '-' && p[1] && p[1] != ']' && p[1] != '/')
			to = (unsigned char)p[1], p += 2;
		in |= c >= from && c <= to;
	} while (*p != ']');
	*ret = in != not ;
	return p + 1;
}

/* One part of a path, which ends at a slash or at its end. */
static bool match_name(const char *g, const char *g_end, const char *s, const char *s_end)
{
	const char *star = NULL, *back = NULL;
	bool any = g_end - g == 1 && *g == '*';

	if (any)
		return s < s_end;
	while (s < s_end || g < g_end) {
		const char *next = NULL;
		bool in = false;

		if (g < g_end && *g == '*') {
			star = ++g;
			back = s;
			continue;
		}
		if (s < s_end && g < g_end) {
			if (*g == '?')
				next = g + 1, in = true;
			else if (*g == '[' && (next = match_class(g, (unsigned char)*s, &in)))
				;
			else if (*g == '\\' && g + 1 < g_end)
				next = g + 2, in = g[1] == *s;
			else
				next = g + 1, in = *g == *s;
		}
		if (in) {
			s += next[-1] == '?' ? char_len(s) : 1;
			g = next;
			continue;
		}
		if (!star || back >= s_end)
			return false;
		g = star;
		s = ++back;
	}
	return true;
}

static const char *part_end(const char *s)
{
	return s + strcspn(s, "/");
}

static bool match_parts(const char *g, const char *s, unsigned *work)
{
	for (;;) {
		const char *ge = part_end(g), *se = part_end(s);

		if (!(*work)--)
			return *work = 0, false;
		if (ge - g == 2 && !strncmp(g, "**", 2)) {
			if (!*ge)
				return true;
			for (const char *p = s;; p = part_end(p) + 1) {
				if (match_parts(ge + 1, p, work))
					return true;
				if (!*part_end(p) || !*work)
					return false;
			}
		}
		if (!match_name(g, ge, s, se))
			return false;
		if (!*ge || !*se)
			return !*se && !*ge;
		g = ge + 1;
		s = se + 1;
	}
}

/* The end of the brace that begins at g, with a comma in it; NULL if it is none. */
static const char *brace_end(const char *g)
{
	unsigned depth = 0;
	bool comma = false;

	for (; *g; g++) {
		if (*g == '\\' && g[1])
			g++;
		else if (*g == '{')
			depth++;
		else if (*g == ',' && depth == 1)
			comma = true;
		else if (*g == '}' && !--depth)
			return comma ? g : NULL;
	}
	return NULL;
}

static bool match_braces(const char *glob, const char *path, unsigned *left, unsigned *work)
{
	const char *open = glob, *end = NULL, *at;
	unsigned depth = 0;

	while (*open && !(*open == '{' && (end = brace_end(open))))
		open += *open == '\\' && open[1] ? 2 : 1;
	if (!end)
		return match_parts(glob, path, work);
	at = open + 1;
	for (const char *p = at; p <= end && *left; p++) {
		auto_str one = NULL;

		depth += *p == '{';
		if (*p == '}' && p < end)
			depth--;
		if (!(p == end || (*p == ',' && !depth)))
			continue;
		(*left)--;
		one = xasprintf("%.*s%.*s%s", (int)(open - glob), glob, (int)(p - at), at, end + 1);
		if (match_braces(one, path, left, work))
			return true;
		at = p + 1;
	}
	return false;
}

bool match_path(const char *glob, const char *path)
{
	unsigned left = BRACES_MAX, work = WORK_MAX;
	bool not = false;

	if (*glob == '#')
		return false;
	for (; *glob == '!'; glob++)
		not = !not ;
	return match_braces(glob, path, &left, &work) != not ;
}
