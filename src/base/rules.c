#include "base/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/glob.h"

void rules_add(struct rules *r, enum rule_kind kind, const char *glob, const char *at)
{
	r->v = xrealloc(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = (struct rule){ kind, xstrdup(glob), xstrdup(at) };
}

void rules_release(struct rules *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].glob);
		free(r->v[i].at);
	}
	free(r->v);
	*r = (struct rules){ 0 };
}

bool rule_denies(const struct rule *r)
{
	return r->kind == RULE_DENY_READ || r->kind == RULE_DENY_WRITE;
}

/* A component without a wildcard weighs more than all characters of those with one. */
unsigned rule_weight(const char *glob)
{
	unsigned weight = 0;

	while (*glob) {
		size_t n = strcspn(glob, "/"), wild = strcspn(glob, "*?[\\/");

		if (n && wild == n)
			weight += 1u << 12;
		for (size_t i = 0; i < n && wild < n; i++)
			weight += !strchr("*?[]\\", glob[i]);
		glob += n;
		glob += *glob == '/';
	}
	return weight;
}

static bool matches(const struct rule *r, const char *path)
{
	if ((*r->glob == '/') != (*path == '/'))
		return false;
	return glob_matches(r->glob, path + (*path == '/'));
}

static const struct rule *winner(const struct rules *r, const char *path, const bool kinds[RULE_KINDS])
{
	const struct rule *best = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct rule *a = &r->v[i];

		if (!kinds[a->kind] || !matches(a, path))
			continue;
		if (!best || rule_weight(a->glob) > rule_weight(best->glob) ||
			(rule_weight(a->glob) == rule_weight(best->glob) && rule_denies(a)))
			best = a;
	}
	return best;
}

const struct rule *rules_read(const struct rules *r, const char *path)
{
	static const bool kinds[RULE_KINDS] = {
		[RULE_ALLOW_READ] = true, [RULE_ALLOW_WRITE] = true, [RULE_DENY_READ] = true
	};

	return winner(r, path, kinds);
}

const struct rule *rules_write(const struct rules *r, const char *path)
{
	static const bool kinds[RULE_KINDS] = {
		[RULE_ALLOW_WRITE] = true, [RULE_DENY_READ] = true, [RULE_DENY_WRITE] = true
	};
	const struct rule *read = rules_read(r, path);

	/* what may not be read may not be written */
	return read && rule_denies(read) ? read : winner(r, path, kinds);
}

bool rules_are_beneath(const struct rules *r, const char *dir)
{
	bool absolute = *dir == '/';

	for (size_t i = 0; i < r->n; i++) {
		const char *glob = r->v[i].glob;

		if ((*glob == '/') != absolute)
			continue;
		/* no slash, or "**" first: at any depth */
		if (!*dir || !strchr(glob, '/') || !strncmp(glob + absolute, "**", 2) ||
			glob_is_above(glob, dir + absolute) || glob_matches(glob, dir + absolute))
			return true;
	}
	return false;
}
