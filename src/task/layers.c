#include "task/layers.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/alloc.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/project_cache.h"
#include "task/remove.h"
#include "workspace/cache_layer.h"
#include "workspace/layer.h"

static int look_into(
	const struct context *c, const char *place, const char *layer, struct strvec *ret, struct err *e)
{
	auto_dir d = NULL;
	struct dirent *ent;

	if (home_list(&c->home, place, &d, e) < 0)
		return -1;
	while (d && (ent = readdir(d))) {
		auto_fd dir = ent->d_name[0] == '.'
				      ? -1
				      : openat(dirfd(d), ent->d_name,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		auto_strvec names = STRVEC_INIT;

		if (dir < 0)
			continue;
		if (layers_of_dir(dir, &names, e) < 0 || project_cache_in_use(dir, &names, e) < 0)
			return -1;
		if (layer && strvec_has(&names, layer))
			strvec_pushf(ret, "%s/%s", place, ent->d_name);
		for (size_t i = 0; !layer && i < names.n; i++)
			if (!strvec_has(ret, names.v[i]))
				strvec_push(ret, names.v[i]);
	}
	return 0;
}

int layers_used(const struct context *c, const char *layer, struct strvec *ret, struct err *e)
{
	return look_into(c, "tasks", layer, ret, e) < 0 ? -1 : look_into(c, "trash", layer, ret, e);
}

struct pruning {
	const struct context *c;
	struct strvec chain; /* the project's cache, which stays for the next task */
};

static int is_used(const char *name, bool *ret, void *arg, struct err *e)
{
	const struct pruning *p = arg;
	auto_strvec users = STRVEC_INIT;

	if (layers_used(p->c, name, &users, e) < 0)
		return -1;
	*ret = users.n > 0 || strvec_has(&p->chain, name);
	return 0;
}

int layers_remove_unused(struct context *c, int64_t project, bool all, bool later, struct err *e)
{
	struct pruning p = { .c = c };
	auto_lock lock = -1;
	int rc = 0;

	/* Nobody begins to use a layer of the project's cache meanwhile. */
	if (cache_layer_exists(&c->home, project))
		rc = cache_layer_lock(&c->home, project, &lock, e);
	if (!rc && lock >= 0)
		rc = all ? project_cache_forget(c, project, &p.chain, e)
			 : cache_layer_chain(&c->home, project, &p.chain, e);
	if (!rc)
		rc = layer_prune(&c->home, project, is_used, &p, all, later, e);
	strvec_release(&p.chain);
	return rc;
}

void layers_missing(const struct context *c, const struct task *t, int task_dir, struct strvec *ret)
{
	auto_strvec names = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	layers_of_dir(task_dir, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		auto_layer l = { 0 };

		if (!layer_open(&c->home, t->project_id, names.v[i], &l, &ignored))
			continue;
		strvec_pushf(ret, "files that were brought into task '%s' are gone (%s)%s", t->name,
			names.v[i],
			strncmp(names.v[i], LAYER_SETUP, strlen(LAYER_SETUP))
				? ""
				: "; garth warm makes them again");
	}
}

/* Whether the task belongs to a set-up that nobody works on; then both locks are taken. */
static bool is_left(const struct context *c, const struct task *t, int *layer_fd, int *task_fd)
{
	struct err ignored = ERR_INIT;
	auto_buf layer = BUF_SMALL;
	auto_fd dir = -1;

	return !home_task_dir(&c->home, t->id, &dir, &ignored) &&
	       !read_file(dir, SETUP_MARK, &layer, &ignored) && layer.len &&
	       !layer_lock(&c->home, t->project_id, buf_str(&layer), false, layer_fd, &ignored) &&
	       !lock_take(dir, "lock", false, task_fd, &ignored);
}

int layers_drop_setups(struct context *c, struct err *e)
{
	auto_task_list all = { 0 };

	if (store_task_list(c->store, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		auto_lock layer = -1, task = -1;
		struct err ignored = ERR_INIT;

		/* if one repository is missing, go on with the others */
		if (is_left(c, &all.v[i], &layer, &task))
			remove_for_good(c, &all.v[i], &ignored);
	}
	return 0;
}
