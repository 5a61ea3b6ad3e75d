#include "task/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "task/archive.h"
#include "task/here.h"
#include "task/task.h"
#include "workspace/workspace.h"

#define PROJECTS_SHOWN 4

static bool is_path(const char *project)
{
	return strchr(project, '/') || project[0] == '.';
}

/* The repository may be gone, so the text itself counts too. */
static bool is_at(const struct project *p, const char *path)
{
	auto_str real = canonicalize_file_name(path);

	return !strcmp(path, p->path) || (real && (!strcmp(real, p->path) || !strcmp(real, p->git_dir)));
}

/* Moves the projects that match to *ret. */
static void select_projects(
	struct project_list *all, const char *project, bool by_path, struct project_list *ret)
{
	ret->v = xcalloc(all->n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < all->n; i++) {
		if (by_path ? !is_at(&all->v[i], project) : strcmp(all->v[i].name, project) != 0)
			continue;
		ret->v[ret->n++] = all->v[i];
		all->v[i] = (struct project){ 0 };
	}
}

int lookup_projects(
	struct context *c, const char *word, const char **ret_name, struct project_list *ret, struct err *e)
{
	const char *slash = strrchr(word, '/');
	auto_str project = slash ? xstrndup(word, (size_t)(slash - word)) : NULL;
	auto_project_list all = { 0 }, found = { 0 };

	*ret = (struct project_list){ 0 };
	*ret_name = slash ? slash + 1 : word;
	if (!slash)
		return 0;
	if (!*project || !slash[1])
		return err_set(e, ERR_USAGE, "'%s' is neither NAME nor PROJECT/NAME", word);
	if (context_store(c, e) < 0 || store_project_list(c->store, &all, e) < 0)
		return -1;
	select_projects(&all, project, is_path(project), &found);
	if (!found.n && !is_path(project)) {
		free(steal_ptr(found.v));
		select_projects(&all, project, true, &found);
	}
	if (!found.n)
		return err_set(e, ERR_NOTFOUND, "there is no project '%s' with tasks", project);
	*ret = found;
	found = (struct project_list){ 0 };
	return 0;
}

char *lookup_address(const struct task *t)
{
	return path_join(t->repository, t->name);
}

/* PROJECT/NAME with the project's name if no other project has it, else with its path. */
static char *long_word(struct context *c, const struct task *t)
{
	auto_project_list all = { 0 };
	struct err ignored = ERR_INIT;
	size_t same = 0;

	if (store_project_list(c->store, &all, &ignored) < 0)
		return lookup_address(t);
	for (size_t i = 0; i < all.n; i++)
		same += !strcmp(all.v[i].name, t->project);
	return same > 1 || is_path(t->project) ? lookup_address(t) : xasprintf("%s/%s", t->project, t->name);
}

static bool has_project(const struct project_list *l, int64_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].id == id)
			return true;
	return false;
}

/* Frees the tasks that are not wanted. project 0: those of the list are wanted. */
static void keep_only(struct task_list *tasks, const struct project_list *projects, int64_t project)
{
	size_t n = 0;

	for (size_t i = 0; i < tasks->n; i++) {
		struct task *t = &tasks->v[i];

		if (project ? t->project_id == project : has_project(projects, t->project_id))
			tasks->v[n++] = *t;
		else
			task_release(t);
	}
	tasks->n = n;
}

/* "'app', 'lib'"; paths if two projects have the same name. */
static void name_projects(const struct task_list *l, struct buf *out)
{
	bool paths = false;

	for (size_t i = 0; i < l->n; i++)
		for (size_t j = 0; j < i; j++)
			paths |= !strcmp(l->v[i].project, l->v[j].project);
	for (size_t i = 0; i < l->n && i < PROJECTS_SHOWN; i++)
		buf_printf(out, "%s'%s'", i ? ", " : "", paths ? l->v[i].repository : l->v[i].project);
	if (l->n > PROJECTS_SHOWN)
		buf_printf(out, " and %zu more", l->n - PROJECTS_SHOWN);
}

static int refuse_several(struct context *c, const struct task_list *l, struct err *e)
{
	auto_buf projects = BUF_INIT(4096);
	auto_str word = long_word(c, &l->v[0]), first = shell_word(word);

	name_projects(l, &projects);
	err_set(e, ERR_USAGE, "there is a task '%s' in %zu projects: %s", l->v[0].name, l->n,
		buf_str(&projects));
	return err_hint(e, "garth show %s", first);
}

static int take(struct task_list *l, size_t i, struct task *ret)
{
	*ret = l->v[i];
	l->v[i] = (struct task){ 0 };
	return 0;
}

static int is_without_tasks(struct context *c, int64_t project, bool *ret, struct err *e)
{
	auto_task_list all = { 0 };

	if (store_task_list(c->store, false, &all, e) < 0)
		return -1;
	keep_only(&all, NULL, project);
	*ret = !all.n;
	return 0;
}

/* The name exists, but not in the current project, which has other tasks. */
static int refuse_elsewhere(struct context *c, const struct task_list *l, int64_t here, struct err *e)
{
	auto_buf projects = BUF_INIT(4096);
	auto_str word = long_word(c, &l->v[0]), first = shell_word(word);
	auto_project p = { 0 };

	if (store_project_by_id(c->store, here, &p, e) < 0)
		return -1;
	name_projects(l, &projects);
	err_set(e, ERR_NOTFOUND, "there is no task '%s' in project '%s'; there is one in %s", l->v[0].name,
		p.name, buf_str(&projects));
	return err_hint(e, "garth show %s", first);
}

static int find_bare(struct context *c, const char *name, struct task *ret, struct err *e)
{
	auto_task_list all = { 0 };
	bool any = true;
	int64_t here;

	if (here_project(c, ".", &here, e) < 0 || store_task_named(c->store, name, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; here > 0 && i < all.n; i++)
		if (all.v[i].project_id == here)
			return take(&all, i, ret);
	for (size_t i = 0; here > 0 && i < all.n; i++)
		if (!backend_of(&all.v[i])->has_git)
			return take(&all, i, ret);
	if (!all.n)
		return err_set(e, ERR_NOTFOUND, "there is no task '%s'", name);
	if (here > 0 && is_without_tasks(c, here, &any, e) < 0)
		return -1;
	if (!any)
		return refuse_elsewhere(c, &all, here, e);
	return all.n == 1 ? take(&all, 0, ret) : refuse_several(c, &all, e);
}

int lookup_row(struct context *c, const char *word, struct task *ret, struct err *e)
{
	auto_project_list projects = { 0 };
	auto_task_list all = { 0 };
	const char *name;

	if (context_store(c, e) < 0 || lookup_projects(c, word, &name, &projects, e) < 0)
		return -1;
	if (!projects.n)
		return find_bare(c, name, ret, e);
	if (store_task_named(c->store, name, false, &all, e) < 0)
		return -1;
	keep_only(&all, &projects, 0);
	if (!all.n)
		return err_set(
			e, ERR_NOTFOUND, "there is no task '%s' in project '%s'", name, projects.v[0].name);
	return all.n == 1 ? take(&all, 0, ret) : refuse_several(c, &all, e);
}

int lookup_all(struct context *c, const char *word, struct task_list *ret, struct err *e)
{
	auto_project_list projects = { 0 };
	auto_task_list all = { 0 };
	bool any_here = false;
	const char *name;
	int64_t here = 0;

	if (context_store(c, e) < 0 || lookup_projects(c, word, &name, &projects, e) < 0 ||
		store_task_named(c->store, name, true, &all, e) < 0 || here_project(c, ".", &here, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		any_here |= all.v[i].project_id == here;
	if (projects.n)
		keep_only(&all, &projects, 0);
	else if (any_here)
		keep_only(&all, NULL, here);
	*ret = all;
	all = (struct task_list){ 0 };
	return 0;
}

char *lookup_word(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_task found = { 0 };

	if (context_store(c, &ignored) < 0 ||
		(!lookup_row(c, t->name, &found, &ignored) && found.id == t->id))
		return xstrdup(t->name);
	return long_word(c, t);
}

char *lookup_elsewhere(struct context *c, const char *word)
{
	auto_project_list projects = { 0 };
	struct err ignored = ERR_INIT;
	auto_task_list all = { 0 };
	const char *name;

	if (context_store(c, &ignored) < 0 || lookup_projects(c, word, &name, &projects, &ignored) < 0 ||
		store_task_named(c->store, name, false, &all, &ignored) < 0)
		return NULL;
	if (projects.n)
		keep_only(&all, &projects, 0);
	return all.n ? long_word(c, &all.v[0]) : NULL;
}
