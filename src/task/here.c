#include "task/here.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/discover.h"

static int refuse(const char *path, struct err *e)
{
	err_set(e, ERR_REFUSED, "'%s' is in the Garth home: a task is made from the project's own checkout",
		path);
	return err_hint(e, "cd PROJECT");
}

/* Neither the directory nor what its .git points to may be in the Garth home. */
static int check_place(const struct context *c, const char *dir, struct discovered *ret, struct err *e)
{
	auto_str real = canonicalize_file_name(dir);

	if (real && path_within(real, c->home.path))
		return refuse(dir, e);
	if (discover(dir, ret, e) < 0)
		return -1;
	if (path_within(ret->git_dir, c->home.path))
		return refuse(ret->git_dir, e);
	return path_within(ret->common, c->home.path) ? refuse(ret->common, e) : 0;
}

static bool is_registered(struct context *c, const char *git_dir)
{
	struct err ignored = ERR_INIT;
	auto_project p = { 0 };

	return !context_store(c, &ignored) && !store_project_by_git_dir(c->store, git_dir, &p, &ignored);
}

int here_open(struct context *c, const char *dir, const char *rev, struct repo *ret, struct err *e)
{
	auto_discovered d = { 0 };

	if (check_place(c, dir, &d, e) < 0)
		return -1;
	return is_registered(c, d.common) ? repo_open(dir, rev, ret, e) : repo_open_first(dir, rev, ret, e);
}

/* The name of the workspace's directory that contains the path, on the heap; NULL if there is none. */
static char *workspace_around(const struct context *c, const char *path)
{
	static const char *const places[] = { "worktrees", "alone" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		auto_str place = path_join(c->home.path, places[i]);
		const char *name = path + strlen(place) + 1;

		if (path_within(path, place) && strcmp(path, place) != 0)
			return xstrndup(name, strcspn(name, "/"));
	}
	return NULL;
}

int here_project(struct context *c, const char *dir, int64_t *ret, struct err *e)
{
	auto_str real = canonicalize_file_name(dir), name = real ? workspace_around(c, real) : NULL;
	auto_discovered d = { 0 };
	struct err none = ERR_INIT;
	auto_project p = { 0 };
	auto_task t = { 0 };
	int rc;

	*ret = 0;
	if (!real || context_store(c, e) < 0)
		return real ? -1 : 0;
	if (!name && (path_within(real, c->home.path) || discover(real, &d, &none) < 0))
		return 0;
	rc = name ? store_task_by_place(c->store, name, &t, e)
		  : store_project_by_git_dir(c->store, d.common, &p, e);
	if (rc < 0 && e->kind != ERR_NOTFOUND)
		return -1;
	*ret = rc < 0 ? HERE_UNKNOWN : name ? t.project_id : p.id;
	return 0;
}
