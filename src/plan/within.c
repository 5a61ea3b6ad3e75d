#include "plan/within.h"

#include <string.h>

#include "base/glob.h"

/* The parts of a glob. A glob without a slash matches at any depth. */
static void split(const char *glob, struct strvec *ret)
{
	if (!strchr(glob, '/'))
		strvec_push(ret, "**");
	for (glob += strspn(glob, "/"); *glob; glob += strspn(glob, "/")) {
		strvec_pushn(ret, glob, strcspn(glob, "/"));
		glob += strcspn(glob, "/");
	}
}

static bool is_all(const char *part)
{
	return !strcmp(part, "**");
}

static bool part_within(const char *part, const char *other)
{
	if (!strcmp(other, "*") || !strcmp(part, other))
		return true;
	return !strpbrk(part, "*?[\\") && glob_matches_case(other, part);
}

/* A glob that matches a directory matches all that is in it. */
static bool within(char *const *x, size_t nx, char *const *y, size_t ny)
{
	while (ny && !is_all(y[0])) {
		if (!nx || is_all(x[0]) || !part_within(x[0], y[0]))
			return false;
		x++, nx--, y++, ny--;
	}
	if (!ny)
		return true;
	/* "**" of the other one takes any number of parts */
	for (size_t i = 0; i <= nx; i++)
		if (within(x + i, nx - i, y + 1, ny - 1))
			return true;
	return false;
}

/* Patterns with many "**" would take long. */
#define PARTS_MAX 64
#define ALL_MAX   4

static bool is_simple(const struct strvec *parts)
{
	size_t all = 0;

	for (size_t i = 0; i < parts->n; i++)
		all += is_all(parts->v[i]);
	return parts->n <= PARTS_MAX && all <= ALL_MAX;
}

bool glob_within(const char *glob, const char *other)
{
	auto_strvec x = STRVEC_INIT, y = STRVEC_INIT;

	split(glob, &x);
	split(other, &y);
	return is_simple(&x) && is_simple(&y) && within(x.v, x.n, y.v, y.n);
}

bool glob_within_any(const char *glob, const struct strvec *globs)
{
	for (size_t i = 0; i < globs->n; i++)
		if (glob_within(glob, globs->v[i]))
			return true;
	return !globs->n;
}
