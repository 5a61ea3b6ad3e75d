#include "config/protect.h"

#include "base/alloc.h"
#include "base/glob.h"
#include "base/path.h"

/* The user's glob may also be a literal path that contains '['. */
static bool is_in(const struct strvec *globs, const char *path)
{
	for (size_t i = 0; globs && i < globs->n; i++)
		if (glob_matches(globs->v[i], path) || path_within(path, globs->v[i]))
			return true;
	return false;
}

static bool is_allowed(const struct config_policy *rules, const struct strvec *allowed, const char *path)
{
	return is_in(&rules->allow, path) || is_in(allowed, path);
}

/* The glob of jail.deny_write or deny_read that holds for a path, or for what a link could lead to. */
static const char *denied_glob(const struct config_policy *rules, const char *path, bool link)
{
	const struct rule *r = rules_write(&rules->rules, path);

	if (r && rule_denies(r))
		return r->glob;
	for (size_t i = 0; link && i < rules->rules.n; i++)
		if (rule_denies(&rules->rules.v[i]) && *rules->rules.v[i].glob != '/' &&
			glob_is_above(rules->rules.v[i].glob, path))
			return rules->rules.v[i].glob;
	return NULL;
}

/* The first glob that names the path, whatever the user allowed. */
static const char *find_glob(const struct config_policy *rules, const char *path, bool link)
{
	const struct strvec *globs = &rules->protect;

	for (size_t i = 0; i < globs->n; i++)
		if (glob_matches(globs->v[i], path) || (link && glob_is_above(globs->v[i], path)))
			return globs->v[i];
	return denied_glob(rules, path, link);
}

const char *protect_path(
	const struct config_policy *rules, const struct strvec *allowed, const char *path, bool link)
{
	const char *glob = find_glob(rules, path, link);

	return glob && !is_allowed(rules, allowed, path) ? glob : NULL;
}

const char *protect_path_within(const struct config_policy *rules, const struct strvec *allowed,
	const char *within, const char *path, bool link)
{
	auto_str whole = path_join(within, path);
	const char *glob = find_glob(rules, whole, link);

	if (!glob)
		glob = find_glob(rules, path, link);
	return glob && !is_allowed(rules, allowed, whole) ? glob : NULL;
}

/* An empty list is no rule. */
static bool is_in_globs(const struct strvec *globs, const char *path)
{
	for (size_t i = 0; i < globs->n; i++)
		if (glob_matches_case(globs->v[i], path))
			return true;
	return !globs->n;
}

bool protect_in_scope(
	const struct config_policy *rules, const struct strvec *allowed, const char *within, const char *path)
{
	auto_str whole = *within ? path_join(within, path) : xstrdup(path);

	return (is_in_globs(&rules->scope, whole) && is_in_globs(&rules->within, whole)) ||
	       is_in(allowed, whole);
}
