#include "task/program.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/path.h"
#include "config/check.h"
#include "git/entry.h"
#include "task/also.h"
#include "task/directory.h"
#include "task/walls_parts.h"

/* Filled by the kernel or by Garth inside, so the host does not know what is there. */
static const char *const unknown_paths[] = { "/proc", "/sys", "/dev", "/run" };

#define NAMES_MAX    100000 /* programs of PATH that are compared with a mistyped one */
#define SUGGEST_FROM 4      /* letters: to a shorter word, dozens of programs are near */

enum found { FOUND_NONE, FOUND_HIDDEN, FOUND_SHOWN, FOUND_PERHAPS };

static bool is_in_project(const struct repo *r, const char *path)
{
	return r && (path_within(path, r->top) || path_within(path, r->main_top));
}

/* Whether the path is in the directory, or in what it is a link to. */
static bool is_in(const char *path, const char *dir)
{
	auto_str real = path_within(path, dir) ? NULL : canonicalize_file_name(dir);

	return !real ? path_within(path, dir) : path_within(path, real);
}

static bool is_in_named(const struct context *c, const char *path)
{
	for (size_t i = 0; i < c->config.tools.n; i++) {
		auto_str dir = path_join(c->user_home, c->config.tools.v[i]);

		if (!access(dir, F_OK) && is_in(path, dir))
			return true;
	}
	for (size_t i = 0; i < c->config.ncaches; i++) {
		auto_str dir = path_join(c->user_home, c->config.caches[i].path);

		if (strcmp(c->config.caches[i].mode, CACHE_OFF) != 0 && !access(dir, F_OK) &&
			is_in(path, dir))
			return true;
	}
	for (size_t i = 0; i < c->config.allow_read.n; i++)
		if (is_in(path, c->config.allow_read.v[i]))
			return true;
	for (size_t i = 0; i < c->config.allow_write.n; i++)
		if (is_in(path, c->config.allow_write.v[i]))
			return true;
	return false;
}

/* The rule of jail.deny_read that hides the path, or NULL. */
static const struct rule *denial(const struct context *c, const char *path)
{
	const struct rule *r = rules_read(&c->config.policy.rules, path);

	return r && rule_denies(r) ? r : NULL;
}

bool program_path_is_shown(const struct context *c, const char *path)
{
	if (path_within(path, c->home.path) || denial(c, path))
		return false;
	for (size_t i = 0; walls_system_paths[i] && !path_within(path, c->user_home); i++)
		if (path_within(path, walls_system_paths[i]))
			return true;
	return walls_etc_has(path) || is_in_named(c, path);
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Looks at an absolute path. If it is hidden, *ret_hidden is the path that would have to be shown. */
static enum found look(const struct context *c, const struct repo *r, const char *path, char **ret_hidden)
{
	auto_str real = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(unknown_paths); i++)
		if (path_within(path, unknown_paths[i]))
			return FOUND_PERHAPS;
	if (is_in_project(r, path))
		return FOUND_PERHAPS;
	if (!is_program(path) || !(real = canonicalize_file_name(path)))
		return FOUND_NONE;
	if (!program_path_is_shown(c, path))
		*ret_hidden = xstrdup(path);
	else if (!program_path_is_shown(c, real) && !is_in_project(r, real))
		*ret_hidden = steal_ptr(real);
	return *ret_hidden ? FOUND_HIDDEN : FOUND_SHOWN;
}

/* Calls `each` with the directories of PATH until it returns true. */
static bool in_path(bool (*each)(const char *dir, void *arg), void *arg)
{
	const char *path = getenv("PATH");

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		auto_str dir = xstrndup(p, strcspn(p, ":"));

		if (each(dir, arg))
			return true;
	}
	return false;
}

struct first {
	const char *name;
	char *path;
};

static bool is_first(const char *dir, void *arg)
{
	struct first *f = arg;
	auto_str path = path_join(dir, f->name);

	if (*dir != '/' || !is_program(path))
		return false;
	f->path = steal_ptr(path);
	return true;
}

char *program_find(const char *program)
{
	struct first f = { .name = program };

	if (strchr(program, '/'))
		return *program == '/' && is_program(program) ? directory_clean(program) : NULL;
	if (*program)
		in_path(is_first, &f);
	return f.path;
}

struct search {
	const struct context *c;
	const struct repo *r;
	const char *name;
	enum found found;
	char *hidden; /* the first program that is not shown */
};

static bool search_dir(const char *dir, void *arg)
{
	struct search *s = arg;
	auto_str path = path_join(*dir ? dir : ".", s->name), hidden = NULL;
	enum found found;

	/* a relative directory is another one inside */
	if (*dir != '/')
		found = !access(path, X_OK) ? FOUND_PERHAPS : FOUND_NONE;
	else if (is_in_project(s->r, dir) && !is_program(path))
		found = FOUND_NONE;
	else
		found = look(s->c, s->r, path, &hidden);
	if (found == FOUND_HIDDEN && !s->hidden)
		s->hidden = steal_ptr(hidden);
	if (found > s->found)
		s->found = found;
	return found > FOUND_HIDDEN;
}

bool program_is_shown(const struct context *c, const char *name)
{
	struct search s = { .c = c, .name = name };

	in_path(search_dir, &s);
	free(s.hidden);
	return s.found == FOUND_SHOWN;
}

struct names {
	const struct context *c;
	struct strvec list;
};

static bool add_names(const char *dir, void *arg)
{
	struct names *n = arg;
	DIR *d = *dir == '/' && program_path_is_shown(n->c, dir) ? opendir(dir) : NULL;
	struct dirent *ent;

	while (d && n->list.n < NAMES_MAX && (ent = readdir(d)))
		strvec_push(&n->list, ent->d_name);
	if (d)
		closedir(d);
	return false;
}

static int refuse_missing(const struct context *c, const char *name, struct err *e)
{
	struct nearest near = { .typed = name };
	struct names others = { .c = c };
	char meant[NEAREST_TEXT_MAX];

	/* `garth run "fix the login" --agent claude`: what follows is an option to the user, and an argument to us */
	if (strchr(name, ' ') && !strchr(name, '/'))
		return err_set(e, ERR_PROGRAM,
			"there is no program '%s'; if it is a prompt, options come before it", name);
	/* an agent that garth knows, but that is not installed */
	if (config_agent_by_program(&c->config, name))
		return err_set(e, ERR_PROGRAM, "there is no program '%s'", name);
	for (size_t i = 0; i < c->config.nagents; i++)
		for (size_t j = 0; j < c->config.agents[i].programs.n; j++)
			nearest_try(&near, c->config.agents[i].programs.v[j],
				strlen(c->config.agents[i].programs.v[j]));
	if (!near.word && strlen(name) >= SUGGEST_FROM)
		in_path(add_names, &others);
	for (size_t i = 0; i < others.list.n; i++)
		nearest_try(&near, others.list.v[i], strlen(others.list.v[i]));
	/* of thousands of programs, some long one is always two letters away from a short word */
	if (others.list.n && near.distance > 1 && strlen(name) < 6)
		near.word = NULL;
	err_set(e, ERR_PROGRAM, "there is no program '%s'%s", name, nearest_text(&near, meant));
	strvec_release(&others.list);
	return -1;
}

char *program_line_for(const struct context *c, const char *hidden)
{
	const char *file = hidden;

	for (unsigned i = 0; i < 2; i++) {
		auto_str path = i ? xstrdup(file) : xstrndup(file, (size_t)(path_base(file) - file - 1));
		const char *below = path + strlen(c->user_home) + 1;

		if (path_within(path, c->home.path))
			return NULL;
		if (path_within(path, c->user_home) && strcmp(path, c->user_home) && !check_tool(below))
			return xasprintf("jail: {tools: [%s]}", below);
		if (!path_within(path, c->user_home) && !check_allow_read(path, c->user_home))
			return xasprintf("jail: {allow_read: [%s]}", path);
	}
	return NULL;
}

static int refuse_hidden(const struct context *c, const char *name, const char *hidden, struct err *e)
{
	const struct rule *denied = denial(c, hidden);
	auto_str line = denied ? NULL : program_line_for(c, hidden);

	if (denied)
		return err_set(e, ERR_PROGRAM, "program '%s' is '%s', which jail.deny_read '%s' (%s) hides",
			name, hidden, denied->glob, denied->at);
	err_set(e, ERR_PROGRAM, "program '%s' is '%s', which a task is not shown", name, hidden);
	if (line)
		err_hint(e, "%s    # in %s", line, c->config.path ? c->config.path : "the configuration");
	return -1;
}

/* A path in the project: the commit has the file, or it may be behind a link. */
static int check_in_base(const struct program_place *p, const char *program, const char *path, struct err *e)
{
	auto_str outside = path_join(p->repo->top, path);
	bool is_here = is_program(outside);
	enum entry_kind kind;

	if (p->uncommitted && is_here)
		return 0;
	if (entry_find(p->repo, p->repo->commit, path, &kind, e) < 0)
		return -1;
	if (kind != ENTRY_NONE)
		return 0;
	if (!is_here)
		return err_set(
			e, ERR_PROGRAM, "there is no file '%s' in commit %.12s", path, p->repo->commit);
	err_set(e, ERR_PROGRAM,
		"'%s' is not committed: commit %.12s, from which the task starts, does not have it", path,
		p->repo->commit);
	return err_hint(e, "garth run --with-changes -- %s ...", program);
}

static int check_path(
	const struct context *c, const struct program_place *p, const char *program, struct err *e)
{
	const struct repo *r = p->repo;
	/* the workspace is at "/" here, so that ".." cannot lead to it from above */
	auto_str below = xasprintf("/%s/%s", p->cwd, program), clean = directory_clean(below), hidden = NULL;

	if (*program != '/') {
		if (strstr(program, "../") || !strcmp(program, ".."))
			return 0;
		return r ? check_in_base(p, program, clean + 1, e) : refuse_missing(c, program, e);
	}
	if (is_in_project(r, program)) {
		const char *top = path_within(program, r->top) ? r->top : r->main_top;

		return !path_is_clean(program) || path_within(program, r->git_dir)
			       ? 0
			       : check_in_base(p, program,
					 program + strlen(top) + (program[strlen(top)] == '/'), e);
	}
	switch (look(c, r, program, &hidden)) {
	case FOUND_NONE:
		/* not executable, or a directory: the kernel says it better */
		return access(program, F_OK) < 0 ? refuse_missing(c, program, e) : 0;
	case FOUND_HIDDEN:
		return refuse_hidden(c, program, hidden, e);
	default:
		return 0;
	}
}

/* Whether the walls can show an agent's program, wherever it is. */
static bool can_show(
	const struct context *c, const struct program_place *p, const char *program, struct err *e)
{
	auto_str path = p->is_agent ? program_find(program) : NULL;
	auto_also also = { 0 };
	struct err why = ERR_INIT;

	if (!path || is_in_project(p->repo, path))
		return false;
	if (!also_program(c, p->repo, program, &also, &why))
		return true;
	if (why.kind == ERR_PROGRAM)
		*e = why;
	return false;
}

int program_check(const struct context *c, const struct program_place *p, const char *program, struct err *e)
{
	struct search s = { .c = c, .r = p->repo, .name = program };
	struct err why = ERR_INIT;
	int rc = 0;

	if (can_show(c, p, program, &why))
		return 0;
	if (why.kind == ERR_PROGRAM) {
		*e = why;
		return -1;
	}
	if (strchr(program, '/'))
		return check_path(c, p, program, e);
	if (*program)
		in_path(search_dir, &s);
	if (s.found == FOUND_NONE)
		rc = refuse_missing(c, program, e);
	else if (s.found == FOUND_HIDDEN)
		rc = refuse_hidden(c, program, s.hidden, e);
	free(s.hidden);
	return rc;
}
