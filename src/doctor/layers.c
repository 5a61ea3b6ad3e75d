/*
 * Finds layers that were changed, and incomplete ones. A layer is frozen: the file `roots` is written last, and
 * nothing in the tree changes after that. If something has a later change time, it was touched.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/found.h"
#include "doctor/parts.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/layers.h"
#include "workspace/cache_layer.h"
#include "workspace/layer.h"

#define TASKS_MAX 1000

/* Locks all tasks that use the layer, so that none of them starts while it is moved. */
static int lock_tasks(struct context *c, const char *name, int *locks, size_t *n, struct err *e)
{
	auto_strvec users = STRVEC_INIT;

	if (layers_used(c, name, &users, e) < 0)
		return -1;
	for (size_t i = 0; i < users.n && *n < TASKS_MAX; i++) {
		auto_fd dir = openat(c->home.fd, users.v[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (dir < 0)
			continue;
		if (lock_take(dir, "lock", false, &locks[*n], e) < 0)
			return err_wrap(e, "a running task uses it (%s)", users.v[i]);
		(*n)++;
	}
	return 0;
}

static bool is_cache(const char *name)
{
	return !strncmp(name, LAYER_CACHE, strlen(LAYER_CACHE));
}

static int move_aside(struct context *c, struct finding *f, struct err *e)
{
	auto_str place = xasprintf("layers/%lld", (long long)f->project), to = NULL;
	int *locks = xcalloc(TASKS_MAX, sizeof(*locks));
	auto_lock lock = -1, chain = -1;
	size_t n = 0;
	int rc = -1;

	/* no task may begin to use it */
	if (is_cache(f->path) && cache_layer_lock(&c->home, f->project, &chain, e) < 0)
		return free(locks), -1;
	if (!layer_lock(&c->home, f->project, f->path, false, &lock, e) &&
		!lock_tasks(c, f->path, locks, &n, e)) {
		rc = survey_is_there(c, place, f->path) ? found_move(c, place, f->path, NULL, &to, e) : 0;
		fault("doctor-layer");
	}
	while (n)
		lock_drop(&locks[--n]);
	free(locks);
	if (to)
		finding_said(f, "it is in %s", to);
	return rc;
}

static int drop_half(struct context *c, struct finding *f, struct err *e)
{
	auto_str name = xstrndup(f->path, strcspn(f->path, "."));
	auto_lock lock = -1;

	return layer_lock(&c->home, f->project, name, false, &lock, e) < 0
		       ? -1
		       : layer_remove(&c->home, f->project, f->path, false, e);
}

/* A process that makes a layer holds its lock. */
static void look_at_half(struct survey *s, int64_t project, const char *part, struct findings *out)
{
	auto_str place = xasprintf("layers/%lld", (long long)project);
	auto_str path = home_path(&s->c->home, "%s/%s", place, part);
	auto_str name = xstrndup(part, strcspn(part, "."));
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;
	struct finding *f;

	if (layer_lock(&s->c->home, project, name, false, &lock, &ignored) < 0 ||
		!survey_is_there(s->c, place, part))
		return;
	f = finding_add(out, "layer-half", path, "half of a layer: making or removing it was cut short");
	f->project = project;
	f->path = xstrdup(part);
	finding_mend(f, drop_half, "remove it; nobody's work is in it");
}

static void look_at_layer(struct survey *s, int64_t project, const char *name, struct findings *out)
{
	auto_str place = xasprintf("layers/%lld", (long long)project);
	auto_str path = home_path(&s->c->home, "%s/%s", place, name);
	struct err none = ERR_INIT;
	auto_layer l = { 0 };
	struct finding *f;

	/* one that was not synced before a crash is made again anyway */
	if (layer_open(&s->c->home, project, name, &l, &none) < 0 ||
		!layer_was_touched(&s->c->home, project, name) || !survey_is_there(s->c, place, name))
		return;
	f = finding_add(
		out, "layer-changed", path, "a layer of files for tasks was changed after it was made");
	f->project = project;
	f->path = xstrdup(name);
	finding_mend(f, move_aside,
		is_cache(name) ? "move it to the trash; the project's cache begins anew"
			       : "move it to the trash; the next new task makes it again");
}

int layers_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		int64_t project = s->v[i].project.id;
		auto_strvec names = STRVEC_INIT, parts = STRVEC_INIT;

		if (layer_list(&s->c->home, project, false, &names, e) < 0 ||
			layer_list(&s->c->home, project, true, &parts, e) < 0)
			return -1;
		for (size_t j = 0; j < parts.n; j++)
			look_at_half(s, project, parts.v[j], out);
		for (size_t j = 0; j < names.n; j++)
			look_at_layer(s, project, names.v[j], out);
	}
	return 0;
}
