#include "inside/submodule.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/gitlinks.h"
#include "git/ref.h"
#include "task/moved.h"

/* Adds the commit that the repository `around` has at the path in `commit`, if it is a submodule there. */
static void add_named(const struct repo *around, const char *commit, const char *path, struct strvec *ret)
{
	char found[OID_SIZE];

	if (gitlink_at(around, commit, path, found) && !strvec_has(ret, found))
		strvec_push(ret, found);
}

/* The commits of the superproject whose submodules the task can see: its base, and its target as it is now. */
static int shown_commits(struct inside *task, struct strvec *ret, struct err *e)
{
	char target[OID_SIZE] = "";

	strvec_push(ret, task->task.base);
	if (*task->task.target && ref_read(&task->at.repo, task->task.target, target, e) < 0)
		return -1;
	if (*target && !strvec_has(ret, target))
		strvec_push(ret, target);
	return 0;
}

/* What the shown commits of the repository around name as the submodule's commit, the base's first. */
static int find_named(
	struct inside *task, const struct submodules *list, size_t n, struct strvec *ret, struct err *e)
{
	size_t up = submodule_around(list, n);
	const char *path = list->v[n].path + (up < list->n ? strlen(list->v[up].path) + 1 : 0);
	auto_strvec commits = STRVEC_INIT;
	auto_repo around = { 0 };

	if (up < list->n) {
		if (find_named(task, list, up, &commits, e) < 0 ||
			submodule_repo(&task->at.ws, &list->v[up], &around, e) < 0)
			return -1;
	} else if (shown_commits(task, &commits, e) < 0) {
		return -1;
	}
	for (size_t i = 0; i < commits.n; i++) {
		/* the files were made from this commit, so git need not be asked */
		if (!strcmp(commits.v[i], up < list->n ? list->v[up].commit : task->task.layer))
			strvec_push(ret, list->v[n].commit);
		else
			add_named(up < list->n ? &around : &task->at.repo, commits.v[i], path, ret);
	}
	return 0;
}

/* Leaves out commits that the user's repository of the submodule lacks, and adds the commit of the files. */
static void keep_existing(struct inside *in, const char *commit)
{
	auto_strvec all = in->named;

	in->named = (struct strvec)STRVEC_INIT;
	for (size_t i = 0; i < all.n; i++)
		if (!strcmp(all.v[i], commit) || ref_can_name(&in->at.repo, all.v[i]))
			strvec_push(&in->named, all.v[i]);
	if (!strvec_has(&in->named, commit))
		strvec_push(&in->named, commit);
}

/* If a gateway moved the branch and died, the branch is right and the store is not. If somebody else moved it, publishing
 * has to know where Garth left it. */
static int catch_up(
	struct inside *in, const struct submodule_row *row, struct submodule_row *ret, struct err *e)
{
	char now[OID_SIZE];
	int64_t bytes = 0;
	bool ours = false;

	*ret = *row;
	if (ref_read(&in->at.repo, in->task.branch, now, e) < 0)
		return -1;
	if (!*now || !strcmp(now, row->published))
		return 0;
	if (moved_by_garth(&in->context, &in->task, now, &ours, &bytes, e) < 0)
		return -1;
	if (!ours)
		return 0;
	snprintf(ret->published, sizeof(ret->published), "%s", now);
	ret->bytes += bytes;
	return store_submodule_set(in->context.store, in->task.id, in->within, ret, e);
}

int inside_submodule_open(struct inside *task, const struct submodules *list, size_t n,
	struct inside_submodule *ret, struct err *e)
{
	struct submodule_view view = { 0 };
	struct submodule_row row = { 0 }, now = { 0 };
	struct inside *in = &ret->in;

	*ret = (struct inside_submodule)INSIDE_SUBMODULE_INIT;
	if (submodule_view(&task->at.ws, list, n, &view, e) < 0)
		return -1;
	ret->is_open = true;
	*in = *task;
	in->packer = (struct runner_piped)RUNNER_PIPED_INIT;
	in->within = list->v[n].path;
	snprintf(ret->git_dir, sizeof(ret->git_dir), "sub/%zu/git", n);
	in->git_dir = ret->git_dir;
	in->named = (struct strvec)STRVEC_INIT;
	in->task = view.task;
	in->at = (struct task_at){ .task = &in->task, .repo = view.repo, .ws = view.ws };
	in->at.ws.repo = &in->at.repo;
	in->at.ws.task = &in->task;
	if (find_named(task, list, n, &in->named, e) < 0)
		return -1;
	keep_existing(in, list->v[n].commit);
	snprintf(ret->base, sizeof(ret->base), "%s", in->named.v[0]);
	ret->workspace = path_join(task->task.workspace, in->within);
	in->task.workspace = ret->workspace;
	in->task.base = ret->base;
	in->task.target = in->task.shown = in->task.leftover = "";
	if (store_submodule(in->context.store, in->task.id, in->within, &row, e) < 0 ||
		catch_up(in, &row, &now, e) < 0)
		return -1;
	in->task.published = ret->published = xstrdup(now.published);
	in->task.commits = now.commits;
	in->task.bytes = now.bytes;
	return 0;
}

void inside_submodule_close(struct inside_submodule *s)
{
	if (!s->is_open)
		return;
	runner_drop_piped(s->in.runner, &s->in.packer);
	repo_release(&s->in.at.repo);
	strvec_release(&s->in.named);
	free(s->workspace);
	/* publishing overwrites it */
	if (s->published)
		free(s->in.task.published);
	*s = (struct inside_submodule)INSIDE_SUBMODULE_INIT;
}
