/* Finds what must be shown of an agent that is installed where the walls show nothing. */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "task/also.h"
#include "task/program.h"

#define LINKS_MAX        16  /* links from the program's name to its file */
#define INTERPRETERS_MAX 4   /* a script's interpreter may be a script */
#define ABOVE_MAX        6   /* directories between a program and its package's top */
#define ENTRIES_MAX      500 /* of a directory that is a package by itself */

static char *parent_of(const char *path)
{
	size_t n = (size_t)(path_base(path) - path);

	return xstrndup(path, n > 1 ? n - 1 : n);
}

static bool has(const char *dir, const char *name)
{
	auto_str path = path_join(dir, name);

	return !access(path, F_OK);
}

/* Whether a directory has something in it that no program's package has: a repository, variables, keys. A directory
 * that cannot be read, or with very many entries, counts too. */
static bool looks_private(const char *dir)
{
	static const char *const names[] = { ".git", ".env*", ".ssh", ".gnupg", ".netrc", ".npmrc", "id_*",
		"*.pem", "*.key", "*.p12", "*credential*", "*secret*", "*history*" };
	auto_dir d = opendir(dir);
	struct dirent *ent;
	size_t n = 0;

	while (d && (ent = readdir(d))) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!fnmatch(names[i], ent->d_name, FNM_CASEFOLD))
				return true;
		if (++n > ENTRIES_MAX)
			return true;
	}
	return !d;
}

/* Whether a directory is so far down that it belongs to one program: not ~/Downloads, not /srv. */
static bool is_deep(const struct context *c, const char *dir)
{
	const char *below = path_within(dir, c->user_home) ? dir + strlen(c->user_home) : dir;
	unsigned depth = 0;

	for (; *below; below++)
		depth += *below == '/';
	return depth >= 2;
}

/* JavaScript: all packages of an installation, since they use each other's files. */
static char *modules_of(const char *real)
{
	static const char name[] = "/node_modules/";
	const char *at = strstr(real, name);

	return at ? xstrndup(real, (size_t)(at - real) + strlen(name) - 1) : NULL;
}

/* A directory above that says what it is. */
static char *marked_above(const struct context *c, const char *real)
{
	static const char *const marks[] = { "pyvenv.cfg", "package.json" };
	auto_str dir = parent_of(real);

	for (unsigned n = 0; n < ABOVE_MAX && !path_within(c->user_home, dir) && is_deep(c, dir); n++) {
		auto_str above = parent_of(dir);

		for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
			if (has(dir, marks[i]))
				return steal_ptr(dir);
		free(dir);
		dir = steal_ptr(above);
	}
	return NULL;
}

/* The package that a program belongs to: a directory, or the program alone. */
static char *package_of(const struct context *c, const char *real)
{
	auto_str dir = modules_of(real), own = NULL;

	if (dir)
		return steal_ptr(dir);
	dir = marked_above(c, real);
	if (dir)
		return steal_ptr(dir);
	own = parent_of(real);
	if (is_deep(c, own) && strcmp(path_base(own), "bin") != 0 && strcmp(path_base(own), "sbin") != 0 &&
		!also_refusal(c, own) && !looks_private(own))
		return steal_ptr(own);
	return xstrdup(real);
}

/* What a link at the path leads to, one step; NULL if it is none. */
static char *step(const char *path)
{
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	auto_str dir = NULL;

	if (n <= 0)
		return NULL;
	text[n] = '\0';
	if (*text == '/')
		return xstrdup(text);
	dir = parent_of(path);
	auto_str real = canonicalize_file_name(dir);

	return path_join(real ? real : dir, text);
}

/* Links from the program's name to its file become links inside, straight to the file: the directories between
 * them may be links too. */
static void show_links(const struct context *c, const char *path, const char *real, struct also *ret)
{
	auto_str at = xstrdup(path);

	for (unsigned n = 0; n < LINKS_MAX && at && strcmp(at, real) != 0; n++) {
		char *next = step(at);

		if (path_is_clean(at) && !also_has(c, ret, at))
			also_add_link(at, real, ret);
		free(at);
		at = next;
	}
}

static int show_program(const struct context *c, const struct repo *r, const char *program, unsigned depth,
	struct also *ret, struct err *e);

/* "#!/usr/bin/env -S node --flag" needs node. Without it the program cannot run, but it will say so itself. */
static void show_interpreter(
	const struct context *c, const struct repo *r, const char *real, unsigned depth, struct also *ret)
{
	auto_fd fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct err ignored = ERR_INIT;
	char line[512], *save = NULL, *word;
	ssize_t n = fd < 0 ? -1 : read_full(fd, line, sizeof(line) - 1);

	if (n < 3 || line[0] != '#' || line[1] != '!' || depth == INTERPRETERS_MAX)
		return;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	if (word && !strcmp(path_base(word), "env"))
		do
			word = strtok_r(NULL, " \t", &save);
		while (word && (*word == '-' || strchr(word, '=')));
	if (word)
		show_program(c, r, word, depth + 1, ret, &ignored);
}

static int refuse(
	const struct context *c, const char *program, const char *path, const char *why, struct err *e)
{
	auto_str line = program_line_for(c, path);

	err_set(e, ERR_PROGRAM, "program '%s' is '%s', which a task is not shown: it %s", program, path, why);
	if (line)
		err_hint(e, "%s    # in %s", line, c->config.path ? c->config.path : "the configuration");
	return -1;
}

static int show_program(const struct context *c, const struct repo *r, const char *program, unsigned depth,
	struct also *ret, struct err *e)
{
	auto_str path = program_find(program), real = path ? canonicalize_file_name(path) : NULL;
	auto_str package = NULL;
	const char *why;

	if (!real)
		return err_set(e, ERR_NOTFOUND, "there is no program '%s'", program);
	if (also_is_projects(r, path))
		return 0;
	if (!also_has(c, ret, real)) {
		package = package_of(c, real);
		why = also_refusal(c, package);
		if (!why && strcmp(package, real) != 0 && !strstr(package, "/node_modules") &&
			looks_private(package))
			why = "is in a directory that has more in it than a program";
		if (why)
			return refuse(c, program, real, why, e);
		also_add(c, r, package, package, ret);
	}
	show_links(c, path, real, ret);
	show_interpreter(c, r, real, depth, ret);
	return 0;
}

int also_program(
	const struct context *c, const struct repo *r, const char *program, struct also *ret, struct err *e)
{
	return show_program(c, r, program, 0, ret, e);
}
