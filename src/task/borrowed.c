#include "task/borrowed.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "config/check.h"
#include "sys/dir.h"
#include "workspace/submodules.h"

/* "00" to "ff", pack, info, and temporary files of git. */
static bool is_part(const char *name)
{
	size_t n = strlen(name);

	if (n == 2 && isxdigit((unsigned char)name[0]) && isxdigit((unsigned char)name[1]))
		return true;
	return !strcmp(name, "pack") || !strcmp(name, "info") || !strncmp(name, "tmp_", 4) ||
	       !strncmp(name, "incoming-", 9) || !strncmp(name, "garth-", 6) || !strncmp(name, ".nfs", 4) ||
	       (n > 5 && !strcmp(name + n - 5, ".lock"));
}

/* Why the directory is not an object store, or NULL. */
static const char *shape(const char *path)
{
	auto_dir d = opendir(path);
	struct dirent *ent;
	size_t parts = 0;

	if (!d)
		return "cannot be read";
	while ((ent = readdir(d))) {
		if (dir_is_dot(ent->d_name))
			continue;
		if (!is_part(ent->d_name))
			return "has other things in it than an object store";
		parts++;
	}
	return parts ? NULL : "is empty, and no object store";
}

static bool is_users(const char *path, const struct repo *r)
{
	struct stat st, own;

	if (stat(path, &st) < 0)
		return false;
	/* root also works in other users' repositories: root has confirmed that to git (safe.directory) */
	return st.st_uid == geteuid() || !st.st_uid ||
	       (!geteuid() && !stat(r->objects.v[0], &own) && own.st_uid == st.st_uid);
}

/* Whether these are the repository's own objects, as git makes them, and not behind a link. */
static bool is_own(const struct repo *r, const char *real)
{
	auto_str git_dir = canonicalize_file_name(r->git_dir),
		 own = git_dir ? path_join(git_dir, "objects") : NULL;

	return own && !strcmp(real, own);
}

int borrowed_check(const struct context *c, const struct repo *r, struct err *e)
{
	for (size_t i = 0; i < r->objects.n; i++) {
		auto_str real = canonicalize_file_name(r->objects.v[i]);
		const char *path = real ? real : r->objects.v[i], *why;

		if (is_own(r, path))
			continue;
		why = check_allow_read(path, c->user_home);
		if (!why && path_within(path, c->home.path))
			why = "is in the Garth home";
		if (!why && !is_users(path, r))
			why = "belongs to another user";
		if (!why)
			why = shape(path);
		if (!why)
			continue;
		err_set(e, ERR_REFUSED, "the repository borrows objects from '%s', which %s", path, why);
		auto_str top = shell_quoted(r->main_top), store = shell_quoted(r->objects.v[0]);
		return err_hint(e, "git -C %s repack -a -d && rm %s/info/alternates", top, store);
	}
	return 0;
}

int borrowed_check_submodules(const struct context *c, const struct workspace *ws, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(ws->dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_repo r = { 0 };

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (submodule_repo(ws, &s.v[i], &r, e) < 0 || borrowed_check(c, &r, e) < 0)
			return -1;
	}
	return 0;
}
