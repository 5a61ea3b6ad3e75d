#include "task/gc.h"

#include "base/alloc.h"
#include "sys/tree.h"
#include "task/archive.h"
#include "task/cache.h"
#include "task/layers.h"
#include "task/remove.h"
#include "task/shown.h"
#include "task/task.h"
#include "workspace/space.h"

int gc_disk(struct context *c, struct gc_disk *ret, struct err *e)
{
	const struct {
		const char *name;
		uint64_t *to;
	} places[] = { { "bases", &ret->bases }, { "layers", &ret->layers }, { "tasks", &ret->tasks },
		{ "worktrees", &ret->worktrees }, { "trash", &ret->trash }, { "archives", &ret->archives } };

	*ret = (struct gc_disk){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (tree_disk(c->home.fd, places[i].name, places[i].to, e) < 0)
			return -1;
	return 0;
}

uint64_t gc_total(const struct gc_disk *d)
{
	return d->bases + d->layers + d->tasks + d->worktrees + d->trash + d->archives;
}

static int remove_project_bases(struct context *c, int64_t project, void *arg, struct err *e)
{
	(void)arg;
	return remove_bases(c, project, 0, false, e);
}

static int remove_project_layers(struct context *c, int64_t project, void *arg, struct err *e)
{
	(void)arg;
	return layers_remove_unused(c, project, false, false, e);
}

static int drop_leftovers(struct context *c, size_t *n, struct err *e)
{
	auto_task_list all = { 0 };

	if (store_task_list(c->store, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		bool found = false;
		struct err ignored = ERR_INIT;

		/* if one repository is missing, go on with the others */
		if (!remove_leftovers(c, &all.v[i], &found, &ignored))
			*n += found;
	}
	return 0;
}

int gc(struct context *c, bool all_trash, struct gc_report *ret, struct err *e)
{
	struct gc_disk before;

	*ret = (struct gc_report){ 0 };
	space_use_reserve(&c->home);
	if (context_store(c, e) < 0 || gc_disk(c, &before, e) < 0 ||
		archive_settle(c, &ret->archived, e) < 0 ||
		remove_trash(c, all_trash ? 0 : TASK_TRASH_DAYS * 24 * 3600, false, &ret->trash, e) < 0 ||
		drop_leftovers(c, &ret->leftovers, e) < 0 || layers_drop_setups(c, e) < 0 ||
		tree_remove(c->home.fd, SHOWN_CACHE, e) < 0 ||
		cache_projects(c, "bases", remove_project_bases, NULL, e) < 0 ||
		cache_projects(c, "layers", remove_project_layers, NULL, e) < 0 ||
		gc_disk(c, &ret->disk, e) < 0)
		return -1;
	ret->freed = gc_total(&before) > gc_total(&ret->disk) ? gc_total(&before) - gc_total(&ret->disk) : 0;
	return 0;
}
