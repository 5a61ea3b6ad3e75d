#include "task/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/tree.h"
#include "task/layers.h"
#include "workspace/base.h"
#include "workspace/delta.h"
#include "workspace/layer.h"
#include "workspace/submodules.h"

void cache_release(struct cache *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].project);
		free(c->v[i].name);
		free(c->v[i].about);
		strvec_release(&c->v[i].tasks);
		strvec_release(&c->v[i].trashed);
	}
	free(c->v);
	*c = (struct cache){ 0 };
}

int cache_projects(struct context *c, const char *place, cache_project_fn *fn, void *arg, struct err *e)
{
	auto_dir d = NULL;
	struct dirent *ent;

	if (home_list(&c->home, place, &d, e) < 0)
		return -1;
	while (d && (ent = readdir(d))) {
		char *end;
		int64_t project = strtoll(ent->d_name, &end, 10);

		if (end != ent->d_name && !*end && fn(c, project, arg, e) < 0)
			return -1;
	}
	return 0;
}

/* What a listing needs. */
struct listing {
	struct cache *out;
	struct task_list tasks;
};

static struct cache_item *add(struct context *c, struct listing *l, const char *place, int64_t project,
	const char *kind, const char *name, struct err *e)
{
	auto_str path = xasprintf("%s/%lld/%s", place, (long long)project, name);
	struct project p = { 0 };
	struct err ignored = ERR_INIT;
	struct cache_item *i;
	uint64_t bytes;

	if (tree_disk(c->home.fd, path, &bytes, e) < 0)
		return NULL;
	store_project_by_id(c->store, project, &p, &ignored);
	l->out->v = xrealloc(l->out->v, l->out->n + 1, sizeof(*l->out->v));
	i = &l->out->v[l->out->n++];
	*i = (struct cache_item){ .project = xstrdup(p.name ? p.name : "?"),
		.kind = kind,
		.name = xstrdup(name),
		.about = xstrdup(""),
		.bytes = bytes };
	l->out->bytes += bytes;
	project_release(&p);
	return i;
}

/* The tasks on a base, and those on deltas of it. */
static void name_base_users(
	const struct listing *l, int place, int64_t project, const char *name, struct strvec *ret)
{
	for (size_t i = 0; i < l->tasks.n; i++) {
		const struct task *t = &l->tasks.v[i];
		auto_str file = xasprintf("%s/parent", t->layer);
		auto_buf parent = BUF_SMALL;
		struct err ignored = ERR_INIT;

		if (t->project_id != project || !*t->layer || backend_of(t)->on_host)
			continue;
		if (!strcmp(t->layer, name) ||
			(!read_file(place, file, &parent, &ignored) && !strcmp(buf_str(&parent), name)))
			strvec_push(ret, t->name);
	}
}

/* The tasks with a submodule on the base, and where the submodule is. */
static void name_submodule_users(
	struct context *c, const struct listing *l, int64_t project, struct cache_item *ret)
{
	for (size_t i = 0; i < l->tasks.n; i++) {
		const struct task *t = &l->tasks.v[i];
		auto_submodules list = { 0 };
		struct err ignored = ERR_INIT;
		auto_fd dir = -1;

		if (t->project_id != project || !*t->layer || backend_of(t)->on_host ||
			home_task_dir(&c->home, t->id, &dir, &ignored) < 0 ||
			submodules_load(dir, &list, &ignored) < 0)
			continue;
		for (size_t j = 0; j < list.n; j++) {
			auto_str name = base_submodule_name(list.v[j].commit, list.v[j].path);

			if (strcmp(name, ret->name) != 0)
				continue;
			strvec_push(&ret->tasks, t->name);
			free(ret->about);
			ret->about = xstrdup(list.v[j].path);
		}
	}
}

static int list_bases(struct context *c, int64_t project, void *arg, struct err *e)
{
	auto_str path = xasprintf("bases/%lld", (long long)project);
	auto_fd place = openat(c->home.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_strvec names = STRVEC_INIT, full = STRVEC_INIT, submodules = STRVEC_INIT;
	struct listing *l = arg;

	if (place < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read '%s'", path);
	if (delta_list(place, false, &names, e) < 0 || delta_list(place, true, &full, e) < 0 ||
		base_list_submodules(place, &submodules, e) < 0)
		return -1;
	strvec_sort(&names);
	strvec_sort(&submodules);
	for (size_t i = 0; i < names.n; i++) {
		struct cache_item *item = add(c, l, "bases", project,
			strvec_has(&full, names.v[i]) ? "base" : "delta", names.v[i], e);

		if (!item)
			return -1;
		name_base_users(l, place, project, names.v[i], &item->tasks);
	}
	for (size_t i = 0; i < submodules.n; i++) {
		struct cache_item *item = add(c, l, "bases", project, "submodule", submodules.v[i], e);

		if (!item)
			return -1;
		name_submodule_users(c, l, project, item);
	}
	return 0;
}

/* From "tasks/7" or "trash/7" to the task's name. */
static void name_layer_users(struct context *c, const char *layer, struct cache_item *ret)
{
	auto_strvec dirs = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	layers_used(c, layer, &dirs, &ignored);
	for (size_t i = 0; i < dirs.n; i++) {
		auto_task t = { 0 };

		if (!store_task_any(c->store, strtoll(path_base(dirs.v[i]), NULL, 10), &t, &ignored))
			strvec_push(t.removed ? &ret->trashed : &ret->tasks, t.name);
	}
	strvec_sort(&ret->tasks);
	strvec_sort(&ret->trashed);
}

static const char *layer_kind(const char *name)
{
	return !strncmp(name, LAYER_SETUP, strlen(LAYER_SETUP))   ? "setup"
	       : !strncmp(name, LAYER_CACHE, strlen(LAYER_CACHE)) ? "cache"
								  : "include";
}

static int list_layers(struct context *c, int64_t project, void *arg, struct err *e)
{
	auto_strvec names = STRVEC_INIT;

	if (layer_list(&c->home, project, false, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		auto_str path = xasprintf("layers/%lld/%s/about", (long long)project, names.v[i]);
		struct cache_item *item =
			add(c, arg, "layers", project, layer_kind(names.v[i]), names.v[i], e);
		auto_buf about = BUF_SMALL;
		struct err ignored = ERR_INIT;

		if (!item)
			return -1;
		name_layer_users(c, names.v[i], item);
		if (read_file(c->home.fd, path, &about, &ignored) < 0)
			continue;
		free(item->about);
		item->about = xstrdup(buf_str(&about));
	}
	return 0;
}

int cache_list(struct context *c, struct cache *ret, struct err *e)
{
	auto_cache out = { 0 };
	struct listing l = { .out = &out };
	int rc;

	if (context_store(c, e) < 0 || store_task_list(c->store, false, &l.tasks, e) < 0)
		return -1;
	rc = cache_projects(c, "bases", list_bases, &l, e);
	if (!rc)
		rc = cache_projects(c, "layers", list_layers, &l, e);
	task_list_release(&l.tasks);
	if (rc < 0)
		return -1;
	*ret = out;
	out = (struct cache){ 0 };
	return 0;
}
