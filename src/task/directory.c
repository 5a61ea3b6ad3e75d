#include "task/directory.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "git/discover.h"
#include "git/entry.h"
#include "task/here.h"
#include "workspace/workspace.h"

/* What follows dir in the path, without the slash; NULL if the path is not beneath dir. */
static const char *beneath(const char *path, const char *dir)
{
	const char *rest = path + strlen(dir);

	return !path_within(path, dir) ? NULL : *rest == '/' ? rest + 1 : rest;
}

char *directory_clean(const char *path)
{
	auto_buf out = BUF_SMALL;

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			while (out.len && out.data[out.len - 1] != '/')
				buf_cut(&out, out.len - 1);
			buf_cut(&out, out.len ? out.len - 1 : 0);
		} else if (n && (n != 1 || *path != '.')) {
			buf_printf(&out, "/%.*s", (int)n, path);
		}
		path += n + (path[n] == '/');
	}
	return xstrdup(out.len ? buf_str(&out) : "/");
}

/* The named directory, relative to the project. */
static int find_named(const struct repo *r, const char *here, const char *named, char **ret, struct err *e)
{
	auto_str path = *named == '/' ? xstrdup(named) : path_join(here, named);
	auto_str real = canonicalize_file_name(path), clean = directory_clean(path);
	/* what is not in the checkout may be in the commit */
	const char *at = real ? real : clean;
	const char *rest = beneath(at, r->top);

	if (!*named)
		return err_set(e, ERR_USAGE, "--cwd: the directory's name is empty");
	if (!rest)
		rest = beneath(at, r->main_top);
	if (!rest || path_within(at, r->git_dir))
		return err_set(e, ERR_USAGE, "--cwd '%s' is not in the project '%s'", named, r->main_top);
	*ret = xstrdup(rest);
	return 0;
}

static bool is_directory(const struct repo *r, const char *path)
{
	auto_str at = path_join(r->top, path), inside = path_join(at, ".");
	auto_str real = canonicalize_file_name(at);

	return real && !strcmp(real, at) && !access(inside, F_OK);
}

int directory_choose(
	const struct repo *r, const struct directory_choice *d, char **ret, char **ret_missing, struct err *e)
{
	auto_str here = canonicalize_file_name(d->here), path = NULL;
	const char *rest = here ? beneath(here, r->top) : NULL;
	enum entry_kind kind;

	if (d->named && find_named(r, here ? here : d->here, d->named, &path, e) < 0)
		return -1;
	if (!d->named)
		path = xstrdup(rest && !path_within(here, r->git_dir) ? rest : "");
	if (entry_find(r, r->commit, path, &kind, e) < 0)
		return -1;
	if (kind == ENTRY_DIRECTORY || (d->uncommitted && is_directory(r, path))) {
		*ret = steal_ptr(path);
		return 0;
	}
	if (d->named && kind == ENTRY_LINK)
		return err_set(e, ERR_USAGE,
			"--cwd '%s' is a symbolic link, or leads through one, in commit %.12s", d->named,
			r->commit);
	if (d->named)
		return err_set(
			e, ERR_NOTFOUND, "there is no directory '%s' in commit %.12s", path, r->commit);
	*ret_missing = steal_ptr(path);
	*ret = xstrdup("");
	return 0;
}

char *directory_of_task(struct context *c, const struct task *t)
{
	auto_str here = canonicalize_file_name("."), host = workspace_host_dir(&c->home, t);
	auto_discovered d = { 0 };
	struct err ignored = ERR_INIT;
	const char *rest = NULL;
	int64_t project = 0;

	if (here && host && path_within(here, host))
		rest = beneath(here, host);
	else if (here && !path_within(here, c->home.path) && !here_project(c, here, &project, &ignored) &&
		 project == t->project_id && !discover(here, &d, &ignored) && !path_within(here, d.git_dir))
		rest = beneath(here, d.top);
	return xstrdup(rest ? rest : "");
}
