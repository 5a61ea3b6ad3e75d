#include "plan/overlap.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/glob.h"
#include "base/strvec.h"

static const char wild[] = "*?[\\";

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The part after the last wildcard. A class ends with ']'; a character after a backslash stands for itself. */
static const char *literal_end(const char *s)
{
	const char *end = s + strlen(s);

	while (end > s && !strchr("*?[]\\", end[-1]))
		end--;
	return end;
}

static bool parts_may_meet(const char *a, const char *b)
{
	size_t from, to;
	const char *x = literal_end(a), *y = literal_end(b);

	if (!strpbrk(a, wild))
		return glob_matches(b, a);
	if (!strpbrk(b, wild))
		return glob_matches(a, b);
	from = min(strcspn(a, wild), strcspn(b, wild));
	to = min(strlen(x), strlen(y));
	return !strncasecmp(a, b, from) && !strcasecmp(x + strlen(x) - to, y + strlen(y) - to);
}

static void split(const char *glob, struct strvec *ret)
{
	for (glob += strspn(glob, "/"); *glob; glob += strspn(glob, "/")) {
		strvec_pushn(ret, glob, strcspn(glob, "/"));
		glob += strcspn(glob, "/");
	}
}

static bool is_all(const char *part)
{
	return !strcmp(part, "**");
}

/* meet[j]: can the remaining parts of a meet the parts of b from j on? A glob that matches a directory matches all that is
 * in it, so the end of either glob meets everything. */
bool globs_may_meet(const char *a, const char *b)
{
	auto_strvec x = STRVEC_INIT, y = STRVEC_INIT;
	bool *meet, *next, result;

	/* most pairs differ before the first wildcard of either */
	if (strncasecmp(a, b, min(strcspn(a, wild), strcspn(b, wild))) != 0)
		return false;
	split(a, &x);
	split(b, &y);
	meet = xcalloc(y.n + 1, sizeof(*meet));
	next = xcalloc(y.n + 1, sizeof(*next));
	memset(meet, true, y.n + 1);
	for (size_t i = x.n; i-- > 0;) {
		next[y.n] = true;
		for (size_t j = y.n; j-- > 0;) {
			if (is_all(x.v[i]))
				next[j] = meet[j] || next[j + 1];
			else if (is_all(y.v[j]))
				next[j] = next[j + 1] || meet[j];
			else
				next[j] = meet[j + 1] && parts_may_meet(x.v[i], y.v[j]);
		}
		memcpy(meet, next, y.n + 1);
	}
	result = meet[0];
	free(meet);
	free(next);
	return result;
}
