/* The configuration's rules about paths, for the jail. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/named_path.h"
#include "task/walls_parts.h"

/* A rule for "dir" and everything in it is one mount; one for "dir" and "**" would be one for each of its files,
 * and none for new ones. */
static char *without_stars(const char *glob)
{
	size_t n = strlen(glob);

	return xstrndup(glob, n > 3 && !strcmp(glob + n - 3, "/**") ? n - 3 : n);
}

void walls_rules(
	const struct context *c, const struct task_at *at, const struct walls_opts *o, struct jail *j)
{
	const struct rules *rules = &c->config.policy.rules;
	const char *top = at->task->workspace;
	size_t n = strlen(top);

	for (size_t i = 0; i < rules->n; i++) {
		auto_str glob = without_stars(rules->v[i].glob);

		if (*glob != '/')
			rules_add(&j->rules, rules->v[i].kind, glob, rules->v[i].at);
		else if (path_within(glob, top) && glob[n] == '/')
			rules_add(&j->rules, rules->v[i].kind, glob + n + 1, rules->v[i].at);
	}
	if (!j->rules.n)
		return;
	if (!j->landlock_only) {
		j->ruled = xstrdup(top);
		return;
	}
	rules_release(&j->rules);
	if (o->not_shown)
		strvec_push(o->not_shown,
			"without namespaces, rules of jail.deny_read and deny_write about the workspace hold only for what is published");
}

static void freeze(const struct context *c, const char *path, struct jail *j)
{
	const struct rule *r = rules_write(&c->config.policy.rules, path);
	auto_str real = r && rule_denies(r) ? named_path_real(path) : NULL;

	if (real)
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_PLAIN, real, path);
}

void walls_deny_write(const struct context *c, const char *below, struct jail *j)
{
	const struct rules *rules = &c->config.policy.rules;

	for (size_t i = 0; i < rules->n; i++) {
		auto_str glob = without_stars(rules->v[i].glob);
		auto_str dir = xstrndup(glob, (size_t)(path_base(glob) - glob));
		struct dirent *ent;
		DIR *d;

		if (rules->v[i].kind != RULE_DENY_WRITE || !path_within(glob, below) || !strcmp(glob, below))
			continue;
		if (!strpbrk(glob, "*?[\\")) {
			freeze(c, glob, j);
			continue;
		}
		d = opendir(dir);
		while (d && (ent = readdir(d))) {
			auto_str path = xasprintf("%s%s", dir, ent->d_name);

			if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..") &&
				rules_write(rules, path) == &rules->v[i])
				freeze(c, path, j);
		}
		if (d)
			closedir(d);
	}
}
