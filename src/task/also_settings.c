/* The user's set-up of an agent: instructions, commands, skills, hooks. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/path.h"
#include "git/named_path.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "task/also.h"

#define LINKS_ENTRIES 2000 /* entries of directories in which links are looked for */

/* For one agent. */
struct settings {
	const struct context *c;
	const struct repo *r;
	const struct config_agent *agent;
	struct agent_env env;
	struct also *ret;
	size_t entries;
};

static bool is_link(const char *path)
{
	char text[2];

	return readlink(path, text, sizeof(text)) >= 0;
}

/* Whether the path is in a directory of an agent. Only listed names in them are shown, because they also have log-ins
 * and conversations. */
static bool is_agents(const struct context *c, const char *real)
{
	for (size_t i = 0; i < c->config.nagents; i++)
		for (size_t k = 0; k < c->config.agents[i].login.n; k++) {
			const char *login = c->config.agents[i].login.v[k];
			auto_str dir = xstrndup(login, (size_t)(path_base(login) - login));
			auto_str path = *dir ? path_join(c->user_home, dir) : NULL, place = NULL;

			if (!path)
				continue;
			path[strlen(path) - 1] = '\0';
			place = canonicalize_file_name(path);
			if (path_within(real, path) || (place && path_within(real, place)))
				return true;
		}
	return false;
}

/* The checkout that the directory is in, below the home; NULL: in none. */
static char *checkout_of(const struct context *c, const char *dir)
{
	auto_str at = xstrdup(dir);

	while (path_within(at, c->user_home) && strcmp(at, c->user_home) != 0) {
		auto_str git = path_join(at, ".git");

		if (!access(git, F_OK))
			return steal_ptr(at);
		at[path_base(at) - at - 1] = '\0';
	}
	return NULL;
}

/* A link in a shown directory works inside only if its target is shown as well. Such links are common if the user keeps
 * the files in a repository of dotfiles. Only targets in the user's home are shown, and only for links that the user, or
 * an installer, has made. Links in a directory further down are not followed, because they came with somebody's skill or
 * plug-in; nor are links that lead out of a checkout. */
static void show_linked(struct settings *s, const char *dir)
{
	auto_dir d = opendir(dir);
	auto_str checkout = checkout_of(s->c, dir);
	struct dirent *ent;

	while (d && s->entries < LINKS_ENTRIES && (ent = readdir(d))) {
		auto_str path = path_join(dir, ent->d_name), real = NULL;

		s->entries++;
		if (dir_is_dot(ent->d_name) || !is_link(path))
			continue;
		real = named_path_real(path);
		if (real && path_within(real, s->c->user_home) && !is_agents(s->c, real) &&
			(!checkout || path_within(real, checkout)))
			also_add(s->c, s->r, real, real, s->ret);
	}
}

/* `inside` is where the agent looks for it, `path` where the user has it. */
static void show_one(struct settings *s, const char *inside, const char *path, bool links)
{
	auto_str real = named_path_real(path);

	if (!real || also_is_projects(s->r, path))
		return;
	/* a link out of the home may lead anywhere */
	if (is_link(path) && !path_within(real, s->c->user_home))
		return;
	also_add(s->c, s->r, inside, real, s->ret);
	if (links)
		show_linked(s, real);
}

/* An entry may be an extension. The user made a link to it; links inside it came with the extension. */
static void show_entries(struct settings *s, const char *inside, const char *path)
{
	auto_dir d = opendir(path);
	struct dirent *ent;

	while (d && s->entries < LINKS_ENTRIES && (ent = readdir(d))) {
		auto_str from = path_join(path, ent->d_name), to = path_join(inside, ent->d_name);

		s->entries++;
		if (!dir_is_dot(ent->d_name))
			show_one(s, to, from, false);
	}
}

static void show_setting(struct settings *s, const char *setting)
{
	size_t n = strlen(setting);
	bool each = n && setting[n - 1] == '/';
	auto_str name = xstrndup(setting, each ? n - 1 : n);
	auto_str own = agent_users_path(s->agent, &s->env, name);
	auto_str inside = path_join(s->c->user_home, name);
	auto_str path = *own == '/' ? xstrdup(own) : path_join(s->c->user_home, own);

	if (each)
		show_entries(s, inside, path);
	else
		show_one(s, inside, path, true);
}

/* Whether the agent's files are in the project: its authors must not choose what is shown of the home. */
static bool is_projects(const struct settings *s, const struct strvec *names)
{
	for (size_t i = 0; i < names->n; i++) {
		auto_str path = agent_users_path(s->agent, &s->env, names->v[i]);

		if (*path == '/' && also_is_projects(s->r, path))
			return true;
	}
	return false;
}

static void show_scripts(struct settings *s)
{
	auto_fd home = open(s->c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_strvec scripts = STRVEC_INIT;

	agent_scripts(s->agent, &s->env, home, s->c->user_home, &scripts);
	for (size_t i = 0; i < scripts.n; i++) {
		auto_str real = named_path_real(scripts.v[i]);
		struct stat st;

		/* a directory in a command is not a script */
		if (real && !stat(real, &st) && S_ISREG(st.st_mode))
			also_add(s->c, s->r, scripts.v[i], real, s->ret);
	}
}

void also_settings(const struct context *c, const struct repo *r, const struct config_agent *a,
	const struct agent_env *env, struct also *ret)
{
	struct settings s = { c, r, a, *env, ret, 0 };

	for (size_t i = 0; i < a->settings.n; i++)
		show_setting(&s, a->settings.v[i]);
	if (!is_projects(&s, &a->login) && !is_projects(&s, &a->settings))
		show_scripts(&s);
}
