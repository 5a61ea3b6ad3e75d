#include "task/also.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "config/check.h"
#include "git/named_path.h"
#include "task/directory.h"
#include "task/program.h"
#include "task/walls_parts.h"

void also_release(struct also *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].path);
		free(a->v[i].source);
	}
	free(a->v);
	strvec_release(&a->notes);
	*a = (struct also){ 0 };
}

/* Whether one of the paths is in the other. A link on the way to the second is followed, too. */
static bool touch(const char *real, const char *path)
{
	auto_str place = canonicalize_file_name(path);

	return path_within(path, real) || path_within(real, path) ||
	       (place && (path_within(place, real) || path_within(real, place)));
}

/* Whether the path is a log-in file of some agent, or a directory that holds one. */
static bool holds_login(const struct context *c, const char *real)
{
	const struct agent_env env = { environ, NULL };

	for (size_t i = 0; i < c->config.nagents; i++)
		for (size_t k = 0; k < c->config.agents[i].login.n; k++) {
			const struct config_agent *a = &c->config.agents[i];
			auto_str login = path_join(c->user_home, a->login.v[k]);
			auto_str users = agent_users_path(a, &env, a->login.v[k]);

			if (touch(real, login) || (*users == '/' && touch(real, users)))
				return true;
		}
	return false;
}

static bool is_in_project(const struct repo *r, const char *path)
{
	return path_within(path, r->top) || path_within(path, r->main_top) || path_within(path, r->git_dir);
}

bool also_is_projects(const struct repo *r, const char *path)
{
	for (const char *p = path + 1; r; p++) {
		auto_str part = NULL, real = NULL;

		if (*p && *p != '/')
			continue;
		part = xstrndup(path, (size_t)(p - path));
		real = canonicalize_file_name(part);
		if (is_in_project(r, part) || (real && is_in_project(r, real)))
			return true;
		if (!*p)
			return false;
	}
	return false;
}

const char *also_refusal(const struct context *c, const char *real)
{
	const char *wrong = check_allow_read(real, c->user_home);
	const struct rule *rule = rules_read(&c->config.policy.rules, real);

	if (wrong)
		return wrong;
	if (path_within(real, c->home.path) || path_within(c->home.path, real))
		return "is in the Garth home, or holds it";
	if (rule && rule_denies(rule))
		return "is hidden by jail.deny_read";
	if (check_names_secret(real))
		return "holds keys or log-ins";
	return holds_login(c, real) ? "holds a log-in" : NULL;
}

bool also_has(const struct context *c, const struct also *a, const char *path)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].link ? !strcmp(path, a->v[i].path) : path_within(path, a->v[i].path))
			return true;
	return program_path_is_shown(c, path);
}

static void add_row(struct also *ret, const char *path, const char *source, bool link)
{
	if (ret->n == ALSO_MAX)
		return;
	ret->v = xrealloc(ret->v, ret->n + 1, sizeof(*ret->v));
	ret->v[ret->n++] = (struct also_row){ xstrdup(path), xstrdup(source), link };
}

void also_add(
	const struct context *c, const struct repo *r, const char *path, const char *real, struct also *ret)
{
	struct stat st;

	if (!path_is_clean(path) || also_has(c, ret, path) || also_refusal(c, real) || also_refusal(c, path))
		return;
	if (also_is_projects(r, path) || also_is_projects(r, real))
		return;
	if (stat(real, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return;
	add_row(ret, path, real, false);
}

void also_add_link(const char *path, const char *to, struct also *ret)
{
	add_row(ret, path, to, true);
}

/* The file that a word names, as a clean absolute path; NULL if it names none, or one in the project. */
static char *named_by(const struct repo *r, const char *cwd, const char *word)
{
	const char *equals = *word == '-' ? strchr(word, '=') : NULL;
	const char *name = equals ? equals + 1 : word;
	auto_str whole = NULL, clean = NULL;

	/* a prompt is longer than a path, or has more than one line */
	if (!*name || *name == '-' || strchr(name, '\n') || strlen(name) > PATH_MAX / 2)
		return NULL;
	/* inside, it is a name in the workspace; a resumed task has the words of another directory */
	if (*name != '/' && r && !path_within(cwd, r->top) && !path_within(cwd, r->main_top))
		return NULL;
	whole = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", cwd, name);
	clean = directory_clean(whole);
	if (r && (path_within(clean, r->top) || path_within(clean, r->main_top)))
		return NULL;
	return steal_ptr(clean);
}

static void show_argument(const struct context *c, const struct repo *r, const char *path, struct also *ret)
{
	auto_str real = named_path_real(path);
	const char *why;
	struct stat st;

	if (!real || stat(real, &st) < 0 || access(real, R_OK) < 0 || also_has(c, ret, path))
		return;
	why = also_refusal(c, real);
	if (!why)
		why = also_refusal(c, path);
	if (why)
		strvec_pushf(&ret->notes, "'%s' is not shown to the task: it %s", path, why);
	else if (S_ISREG(st.st_mode))
		also_add(c, r, path, real, ret);
	else if (S_ISDIR(st.st_mode))
		strvec_pushf(&ret->notes,
			"directory '%s' is not shown to the task; jail: {allow_read: [%s]} in %s shows it",
			path, path, c->config.path ? c->config.path : "the configuration");
}

void also_arguments(
	const struct context *c, const struct repo *r, const char *cwd, char *const *argv, struct also *ret)
{
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		auto_str path = named_by(r, cwd, argv[i]);

		if (path)
			show_argument(c, r, path, ret);
	}
}
