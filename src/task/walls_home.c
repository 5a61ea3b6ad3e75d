/*
 * What the configuration shows of the host, most of it below the home: tools and jail.allow_read read-only, and
 * caches as they are on the host, with a writable layer of the task's own on top. The layers are in
 * tasks/<id>/caches/NAME, where NAME is the path with "%2F" for each slash. Between the two may be what the task's
 * set-up wrote there, and layers of the project's own cache (project_cache.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "config/check.h"
#include "git/named_path.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "task/project_cache.h"
#include "task/walls_parts.h"
#include "workspace/cache_layer.h"

struct entry {
	char *path;
	const char *source; /* what is shown at the path, if it is not the same one; else NULL */
	const struct config_cache *cache; /* if it has a layer; else NULL */
	bool write;                       /* the host's own, writable */
	bool shared;                      /* a cache with layers that tasks share */
};

struct entries {
	struct entry *v;
	size_t n;
	struct strvec setups; /* the task's set-up layers */
	struct strvec layers; /* of the project's cache, the top one first */
};

static void entries_release(struct entries *l)
{
	strvec_release(&l->setups);
	strvec_release(&l->layers);
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
}

/* Most directories do not exist: one access() is cheaper than resolving each component of the path. */
static void add(struct entries *l, char *path)
{
	if (access(path, F_OK) < 0) {
		free(path);
		return;
	}
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct entry){ .path = path };
}

static void add_writable(struct entries *l, const char *path)
{
	size_t n = l->n;

	add(l, xstrdup(path));
	if (l->n > n)
		l->v[n].write = true;
}

static void add_also(struct entries *l, const struct also_row *row)
{
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct entry){ .path = xstrdup(row->path), .source = row->source };
}

/* Parents first; of two with the same path, the writable one first. */
static int by_path(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : !(x->cache || x->write) - !(y->cache || y->write);
}

bool walls_home_is_fine(const struct context *c, const char *real)
{
	if (!real || path_within(c->user_home, real))
		return false;
	return !path_within(real, c->user_home) || !check_tool(real + strlen(c->user_home) + 1);
}

static void find_in(const struct context *c, int64_t project, const struct strvec *layers, const char *part,
	const char *name, struct strvec *ret)
{
	for (size_t i = 0; i < layers->n && ret->n < JAIL_CACHE_LOWERS_MAX; i++) {
		auto_str path = xasprintf("%s/%s/%s", layers->v[i], part, name);
		auto_str whole = xasprintf("layers/%lld/%s", (long long)project, path);

		if (!faccessat(c->home.fd, whole, F_OK, AT_SYMLINK_NOFOLLOW))
			strvec_push(ret, path);
	}
}

/* The directories that shared layers have for a cache, beneath layers/<project>: the set-up's is above. */
static void find_lowers(const struct context *c, int64_t project, const struct entries *l,
	const struct config_cache *k, struct strvec *ret)
{
	auto_str name = cache_layer_name(k->path);

	if (!strcmp(k->mode, CACHE_READ_ONLY))
		return;
	find_in(c, project, &l->setups, LAYER_CACHES, name, ret);
	if (!strcmp(k->mode, CACHE_PROJECT))
		find_in(c, project, &l->layers, "tree", name, ret);
}

/* Adds a cache. One that the host does not have is shown if a shared layer has it. */
static void add_cache(
	const struct context *c, const struct task *t, struct entries *l, const struct config_cache *k)
{
	bool task = strcmp(k->mode, CACHE_READ_ONLY) != 0;
	auto_str path = path_join(c->user_home, k->path);
	auto_strvec lowers = STRVEC_INIT;
	struct stat st;

	if (!strcmp(k->mode, CACHE_OFF))
		return;
	find_lowers(c, t->project_id, l, k, &lowers);
	if (lstat(path, &st) < 0 && (!lowers.n || errno != ENOENT))
		return;
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] =
		(struct entry){ .path = steal_ptr(path), .cache = task ? k : NULL, .shared = lowers.n > 0 };
}

/* A cache with its layers. Without `real`, the host does not have it. */
static void show_cache(const struct context *c, const struct task *t, const struct entries *l,
	const struct entry *en, const char *real, struct jail *j)
{
	auto_str name = cache_layer_name(en->cache->path);
	auto_strvec lowers = STRVEC_INIT;

	if (en->shared)
		find_lowers(c, t->project_id, l, en->cache, &lowers);
	jail_add_cache(j, real, en->path, name, &lowers);
}

/* Shows what also.h found; its links were resolved and checked there. */
static void show_also(const struct entry *en, const struct hidden *h, struct jail *j)
{
	if (is_hidden(h, en->source))
		return;
	if (!strcmp(en->source, en->path))
		walls_show(j, h, en->path, 0);
	else if (!hidden_beneath(h, en->source))
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_PLAIN, en->source, en->path);
}

/* Shows a path. If it is a link, its target is shown there, but never something hidden. A cache with something
 * hidden in it is shown without a layer. */
static void show_entry(const struct context *c, const struct task *t, const struct entries *l,
	const struct entry *en, const struct hidden *h, struct jail *j)
{
	auto_str real = named_path_real(en->path);
	struct stat st;

	/* only if nothing is there: a link that leads nowhere is no cache */
	if (!real && en->shared && lstat(en->path, &st) < 0 && !is_hidden(h, en->path)) {
		show_cache(c, t, l, en, NULL, j);
		return;
	}
	if (en->source) {
		show_also(en, h, j);
		return;
	}
	if (!walls_home_is_fine(c, real) || is_hidden(h, real))
		return;
	if (en->cache && !hidden_beneath(h, real)) {
		show_cache(c, t, l, en, real, j);
	} else if (en->write && !hidden_beneath(h, real)) {
		jail_add(j, JAIL_BIND, JAIL_WRITE | JAIL_OPTIONAL | JAIL_PLAIN, real, en->path);
		walls_deny_write(c, en->path, j);
	} else if (!strcmp(real, en->path)) {
		walls_show(j, h, en->path, 0);
	} else if (!hidden_beneath(h, real)) {
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_PLAIN, real, en->path);
	}
}

/* Everything that the configuration names and the host has, in the order of mounting. */
static void list_entries(
	struct context *c, const struct task_at *at, const struct walls_opts *o, struct entries *l)
{
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < c->config.tools.n; i++)
		add(l, path_join(c->user_home, c->config.tools.v[i]));
	for (size_t i = 0; i < c->config.allow_read.n; i++)
		if (walls_can_allow(c, at, o, RULE_ALLOW_READ, i))
			add(l, xstrdup(c->config.allow_read.v[i]));
	for (size_t i = 0; i < c->config.allow_write.n; i++)
		if (walls_can_allow(c, at, o, RULE_ALLOW_WRITE, i))
			add_writable(l, c->config.allow_write.v[i]);
	for (size_t i = 0; o->also && i < o->also->n; i++)
		if (!o->also->v[i].link)
			add_also(l, &o->also->v[i]);
	/* without them the cache is the host's, and the task's own */
	project_cache_layers(c, at->task, at->ws.dir, &l->layers, &ignored);
	project_cache_setups(c, at->task, at->ws.dir, &l->setups);
	for (size_t i = 0; i < c->config.ncaches; i++)
		add_cache(c, at->task, l, &c->config.caches[i]);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_path);
}

void walls_home(struct context *c, const struct task_at *at, const struct walls_opts *o,
	const struct hidden *h, struct jail *j)
{
	__attribute__((cleanup(entries_release))) struct entries l = { 0 };
	const char *cache = NULL;

	list_entries(c, at, o, &l);
	j->caches = home_path(&c->home, "tasks/%lld/caches", (long long)at->task->id);
	if (l.layers.n || l.setups.n)
		j->shared = home_path(&c->home, "layers/%lld", (long long)at->task->project_id);
	for (size_t i = 0; i < l.n; i++) {
		/* what is in a cache is shown with it */
		if ((cache && path_within(l.v[i].path, cache)) ||
			(i && !strcmp(l.v[i].path, l.v[i - 1].path)))
			continue;
		show_entry(c, at->task, &l, &l.v[i], h, j);
		if (l.v[i].cache)
			cache = l.v[i].path;
	}
	for (size_t i = 0; o->also && i < o->also->n; i++)
		if (o->also->v[i].link)
			jail_add(j, JAIL_LINK, 0, o->also->v[i].source, o->also->v[i].path);
}

static int make(int dir, const char *name, mode_t mode)
{
	if (mkdirat(dir, name, mode) < 0 && errno != EEXIST)
		return -1;
	return owner_give(dir, name);
}

static int make_layer(int caches, const char *name)
{
	static const char *const parts[] = { "upper", "work" };
	auto_fd dir = -1;

	if (mkdirat(caches, name, 0700) < 0 && errno != EEXIST)
		return -1;
	dir = openat(caches, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; dir >= 0 && i < ARRAY_SIZE(parts); i++)
		if (make(dir, parts[i], 0755) < 0)
			return -1;
	return dir < 0 ? -1 : 0;
}

/* If a layer cannot be made, on a full disk for example, the cache is shown read-only. */
static void make_caches(struct jail *j, int task_dir)
{
	auto_fd caches = -1;

	for (size_t i = 0; i < j->nrows; i++) {
		struct jail_row *r = &j->rows[i];

		if (r->kind != JAIL_CACHE)
			continue;
		if (caches < 0)
			mkdirat(task_dir, "caches", 0700);
		if (caches < 0)
			caches = openat(task_dir, "caches", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (caches >= 0 && !make_layer(caches, r->layer))
			continue;
		/* a directory that the host does not have is one of the task's home then */
		r->kind = r->source ? JAIL_BIND : JAIL_DIR;
		r->flags &= ~(unsigned)JAIL_WRITE;
		strvec_release(&r->lowers);
		free(steal_ptr(r->layer));
	}
}

/* Of the task's own, random, and the same as long as the task exists. Without it, the task has none. */
static void make_machine_id(int task_dir)
{
	struct err ignored = ERR_INIT;
	unsigned char random[16];
	auto_buf text = BUF_SMALL;

	if (!faccessat(task_dir, WALLS_MACHINE_ID, F_OK, AT_SYMLINK_NOFOLLOW) ||
		getrandom(random, sizeof(random), 0) != sizeof(random))
		return;
	for (size_t i = 0; i < sizeof(random); i++)
		buf_printf(&text, "%02x", random[i]);
	buf_addch(&text, '\n');
	write_file(task_dir, WALLS_MACHINE_ID, buf_str(&text), text.len, 0444, &ignored);
}

void walls_make_files(struct jail *j, int task_dir)
{
	/* on Landlock alone, /etc is the host's */
	if (!j->landlock_only)
		make_machine_id(task_dir);
	make_caches(j, task_dir);
}
