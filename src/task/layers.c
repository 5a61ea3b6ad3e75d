#include "task/layers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "base/alloc.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/remove.h"
#include "workspace/layer.h"

static int look_into(
	const struct context *c, const char *place, const char *layer, struct strvec *ret, struct err *e)
{
	int fd = openat(c->home.fd, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d)
		return fd < 0 && errno == ENOENT ? 0
						 : (fd_closep(&fd), err_sys(e, "cannot read '%s'", place));
	while ((ent = readdir(d))) {
		auto_fd dir = ent->d_name[0] == '.'
				      ? -1
				      : openat(dirfd(d), ent->d_name,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		auto_strvec names = STRVEC_INIT;

		if (dir < 0)
			continue;
		if (layers_of_dir(dir, &names, e) < 0)
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

static int is_used(const char *name, bool *ret, void *arg, struct err *e)
{
	auto_strvec users = STRVEC_INIT;

	if (layers_used(arg, name, &users, e) < 0)
		return -1;
	*ret = users.n > 0;
	return 0;
}

int layers_remove_unused(struct context *c, int64_t project, bool all, bool later, struct err *e)
{
	return layer_prune(&c->home, project, is_used, c, all, later, e);
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
