#include "base/glob.h"

#include <string.h>

/* A range of bytes: a glob, a path, or one part of either. */
struct part {
	const char *at, *end;
	bool exact; /* of a glob: case counts */
};

static unsigned char fold(char c, bool exact)
{
	return (unsigned char)(!exact && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static struct part first_part(const char *at, const char *end, bool exact)
{
	const char *slash = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;

	return (struct part){ at, slash ? slash : end, exact };
}

/* Matches c against the class that begins at g. Returns the position after its ']', or NULL if there is none
 * and the '[' is an ordinary character. */
static const char *match_class(const char *g, const char *end, char c, bool exact, bool *ret)
{
	bool negate = g + 1 < end && (g[1] == '!' || g[1] == '^'), in = false;
	const char *first = g + 1 + negate;
	unsigned char lo, hi, ch = fold(c, exact);

	for (g = first; g < end && (*g != ']' || g == first); g++) {
		lo = hi = fold(*g, exact);
		if (g + 2 < end && g[1] == '-' && g[2] != ']') {
			hi = fold(g[2], exact);
			g += 2;
		}
		in |= ch >= lo && ch <= hi;
	}
	*ret = in != negate;
	return g < end ? g + 1 : NULL;
}

/* Matches one character of a glob that is no star. If it matches, both positions move on. `closing` is the
 * glob's last ']' or NULL: no class can begin after it, which saves looking for its end each time. */
static bool match_one(
	const char **g, const struct part *glob, const char *closing, const char **t, const char *tend)
{
	bool in = false, class = **g == '[' && closing && *g < closing;
	const char *next = class ? match_class(*g, glob->end, **t, glob->exact, &in) : NULL;

	if (next && !in)
		return false;
	if (next) {
		*g = next;
		++*t;
		return true;
	}
	if (**g == '?') {
		++*g;
		do
			++*t;
		while (*t < tend && is_continuation(**t));
		return true;
	}
	if (**g == '\\' && *g + 1 < glob->end)
		++*g;
	if (fold(**g, glob->exact) != fold(**t, glob->exact))
		return false;
	++*g;
	++*t;
	return true;
}

/* Whether the first or the last character says already that they do not match, as for most names of a tree. */
static bool differs_at_ends(struct part g, struct part t)
{
	if (g.at == g.end || t.at == t.end)
		return false;
	return (!strchr("*?[\\", *g.at) && fold(*g.at, g.exact) != fold(*t.at, g.exact)) ||
	       (!strchr("*?]", g.end[-1]) && fold(g.end[-1], g.exact) != fold(t.end[-1], g.exact));
}

/* Matches a name against one part of a glob. After a mismatch only the last star is tried again, one
 * character further on. What is before that star was matched as early as possible, so trying it again cannot
 * help. */
static bool match_name(struct part g, struct part t)
{
	const char *star = NULL, *from = NULL, *gp = g.at, *tp = t.at;
	const char *closing;

	if (differs_at_ends(g, t))
		return false;
	closing = memrchr(g.at, ']', (size_t)(g.end - g.at));
	while (tp < t.end) {
		if (gp < g.end && *gp == '*') {
			star = ++gp;
			from = tp;
		} else if (gp == g.end || !match_one(&gp, &g, closing, &tp, t.end)) {
			if (!star)
				return false;
			gp = star;
			tp = ++from;
		}
	}
	while (gp < g.end && *gp == '*')
		gp++;
	return gp == g.end;
}

static bool is_all_depths(struct part g)
{
	return g.end - g.at == 2 && g.at[0] == '*' && g.at[1] == '*';
}

/* The start of the next part, or the end. */
static const char *behind(struct part p, const char *end)
{
	return p.end < end ? p.end + 1 : end;
}

/* Matches a whole path part by part, in the same way: here '**' is the star. When the glob is used up, the
 * rest of the path is beneath the match; with `exact` nothing may be left. */
static bool match_path(struct part glob, struct part path, bool anywhere, bool exact)
{
	const char *g = glob.at, *p = path.at, *star = anywhere ? g : NULL, *from = p;

	for (;;) {
		struct part gp = first_part(g, glob.end, glob.exact), pp = first_part(p, path.end, false);

		if (g == glob.end && (!exact || p == path.end))
			return true;
		if (g < glob.end && is_all_depths(gp)) {
			star = g = behind(gp, glob.end);
			from = p;
			/* a '**' at the end matches what is in a directory, but not the directory itself */
			if (g == glob.end)
				return p < path.end;
		} else if (g < glob.end && p < path.end && match_name(gp, pp)) {
			g = behind(gp, glob.end);
			p = behind(pp, path.end);
		} else {
			if (!star || from == path.end)
				return false;
			from = p = behind(first_part(from, path.end, false), path.end);
			g = star;
		}
	}
}

/* Removes the slashes at both ends. False if the glob starts at the root: any slash but one at its end means
 * so. */
static bool strip(struct part *glob)
{
	bool rooted = glob->at < glob->end && *glob->at == '/';

	while (glob->at < glob->end && *glob->at == '/')
		glob->at++;
	while (glob->at < glob->end && glob->end[-1] == '/')
		glob->end--;
	return !rooted && !memchr(glob->at, '/', (size_t)(glob->end - glob->at));
}

static bool matches(const char *glob, const char *path, bool exact)
{
	struct part g = { glob, glob + strlen(glob), exact }, p = { path, path + strlen(path), false };
	bool anywhere = strip(&g);

	return g.at < g.end && match_path(g, p, anywhere, false);
}

bool glob_matches(const char *glob, const char *path)
{
	return matches(glob, path, false);
}

bool glob_matches_case(const char *glob, const char *path)
{
	return matches(glob, path, true);
}

bool glob_is_above(const char *glob, const char *path)
{
	struct part g = { glob, glob + strlen(glob), false }, p = { path, path + strlen(path), false };
	bool anywhere = strip(&g), named = false;

	if (anywhere)
		return false;
	for (const char *at = g.at; at < g.end;) {
		struct part part = first_part(at, g.end, false), above = { g.at, part.end, false };

		named |= !is_all_depths(part);
		if (part.end < g.end && named && match_path(above, p, false, true))
			return true;
		at = behind(part, g.end);
	}
	return false;
}
