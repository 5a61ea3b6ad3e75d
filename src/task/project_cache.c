#include "task/project_cache.h"

#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/layers.h"
#include "task/task.h"
#include "workspace/cache_layer.h"

#define NOTED "cache-layers"

static bool is_shared(const struct config_cache *k)
{
	return !strcmp(k->mode, CACHE_PROJECT);
}

bool project_cache_is_on(const struct context *c, const struct task *t)
{
	const struct backend *b = backend_of(t);

	for (size_t i = 0; b->has_git && !b->landlock_only && i < c->config.ncaches; i++)
		if (is_shared(&c->config.caches[i]))
			return true;
	return false;
}

static int note(const struct context *c, const struct task *t, int task_dir, struct err *e)
{
	auto_strvec names = STRVEC_INIT;
	auto_buf text = BUF_SMALL;
	auto_lock lock = -1;

	/* a command that removes layers holds the lock, and reads the note */
	if (cache_layer_lock(&c->home, t->project_id, &lock, e) < 0 ||
		cache_layer_chain(&c->home, t->project_id, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		buf_printf(&text, "%s\n", names.v[i]);
	return write_file(task_dir, NOTED, buf_str(&text), text.len, 0600, e);
}

void project_cache_note(const struct context *c, const struct task *t, int task_dir)
{
	struct err failed = ERR_INIT;

	if (!project_cache_is_on(c, t) || !cache_layer_exists(&c->home, t->project_id) ||
		note(c, t, task_dir, &failed) < 0)
		unlinkat(task_dir, NOTED, 0);
}

int project_cache_in_use(int task_dir, struct strvec *ret, struct err *e)
{
	auto_buf text = BUF_SMALL;

	if (read_file(task_dir, NOTED, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (!lock_is_held(task_dir, "lock"))
		return 0;
	for (const char *p = buf_str(&text); *p; p += strspn(p, "\n")) {
		size_t n = strcspn(p, "\n");

		strvec_pushn(ret, p, n);
		p += n;
	}
	return 0;
}

int project_cache_layers(
	const struct context *c, const struct task *t, int task_dir, struct strvec *ret, struct err *e)
{
	if (!project_cache_is_on(c, t))
		return 0;
	return lock_is_held(task_dir, "lock") ? project_cache_in_use(task_dir, ret, e)
					      : cache_layer_chain(&c->home, t->project_id, ret, e);
}

/* What the task wrote to a cache: the layer on top of it, or, if nothing was mounted there, the directory in its
 * home. */
static int open_written(int task_dir, const char *path)
{
	auto_str name = cache_layer_name(path);
	auto_str upper = xasprintf("caches/%s/upper", name), own = xasprintf("home/%s", path);
	int fd = open_beneath(task_dir, upper, O_RDONLY | O_DIRECTORY, 0);

	return fd >= 0 ? fd : open_beneath(task_dir, own, O_RDONLY | O_DIRECTORY, 0);
}

/* Takes what was written to the caches of one mode. */
static int fill(const struct context *c, int task_dir, const char *mode, bool move, struct layer_part *l,
	struct strvec *left_out, struct err *e)
{
	for (size_t i = 0; i < c->config.ncaches; i++) {
		const struct config_cache *k = &c->config.caches[i];
		auto_fd from = strcmp(k->mode, mode) ? -1 : open_written(task_dir, k->path);

		if (from >= 0 && cache_layer_fill(l, k->path, from, move, left_out, e) < 0)
			return err_wrap(e, "~/%s", k->path);
	}
	return 0;
}

/* Whether a running task, other than this one (0: any), uses the chain. */
static int is_used(const struct context *c, int64_t project, int64_t except, bool *ret, struct err *e)
{
	auto_str own = xasprintf("tasks/%lld", (long long)except);
	auto_strvec chain = STRVEC_INIT;

	*ret = false;
	if (cache_layer_chain(&c->home, project, &chain, e) < 0)
		return -1;
	for (size_t i = 0; i < chain.n; i++) {
		auto_strvec users = STRVEC_INIT;

		if (layers_used(c, chain.v[i], &users, e) < 0)
			return -1;
		for (size_t k = 0; k < users.n; k++)
			*ret |= strcmp(users.v[k], own) != 0;
	}
	return 0;
}

/* Other tasks get these files from now on: that is written down first. */
static int record(struct context *c, const struct task *t, const struct layer_part *l, struct err *e)
{
	auto_audit log = NULL;

	if (context_store(c, e) < 0 || audit_open(c->home.fd, c->store, &log, e) < 0)
		return -1;
	return audit_add(log, "cache", t,
		json_pack("{s:s, s:I, s:I}", "layer", l->name, "files", (json_int_t)l->files, "bytes",
			(json_int_t)l->bytes),
		e);
}

int project_cache_add(struct context *c, const struct task *t, int task_dir, bool move,
	struct project_cache_added *ret, struct err *e)
{
	auto_layer_part part = LAYER_PART_INIT;
	auto_lock layer = -1, chain = -1;
	bool used;

	if (!project_cache_is_on(c, t))
		return 0;
	if (cache_layer_begin(&c->home, t->project_id, &part, &layer, e) < 0 ||
		fill(c, task_dir, CACHE_PROJECT, move, &part, &ret->left_out, e) < 0)
		return -1;
	ret->files = part.files;
	ret->bytes = part.bytes;
	if (!part.files)
		return 0;
	if (record(c, t, &part, e) < 0 || cache_layer_lock(&c->home, t->project_id, &chain, e) < 0 ||
		is_used(c, t->project_id, t->id, &used, e) < 0)
		return -1;
	return cache_layer_put(&part, !used, e);
}

int project_cache_fill_setup(const struct context *c, const struct task *t, int task_dir,
	struct layer_part *l, struct strvec *left_out, struct err *e)
{
	const struct backend *b = backend_of(t);
	struct err ignored = ERR_INIT;
	struct layer_part caches;
	int rc;

	if (!b->has_git || b->landlock_only)
		return 0;
	if (layer_begin_caches(l, &caches, e) < 0)
		return -1;
	rc = fill(c, task_dir, CACHE_TASK, true, &caches, left_out, e);
	return layer_end_caches(l, &caches, !rc, rc < 0 ? &ignored : e) < 0 ? -1 : rc;
}

void project_cache_setups(const struct context *c, const struct task *t, int task_dir, struct strvec *ret)
{
	auto_strvec names = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	layers_of_dir(task_dir, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		auto_layer l = { 0 };

		if (!strncmp(names.v[i], LAYER_SETUP, strlen(LAYER_SETUP)) &&
			!layer_open(&c->home, t->project_id, names.v[i], &l, &ignored))
			strvec_push(ret, names.v[i]);
	}
}

int project_cache_forget(const struct context *c, int64_t project, struct strvec *ret_kept, struct err *e)
{
	bool used;

	if (is_used(c, project, 0, &used, e) < 0)
		return -1;
	return used ? cache_layer_chain(&c->home, project, ret_kept, e)
		    : cache_layer_forget(&c->home, project, e);
}
