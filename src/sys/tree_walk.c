#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define OFFERS_MAX 16

/*
 * The threads of one walk. A thread that finds a directory offers it to the others if the list has space,
 * else it walks it itself. A thread that is done takes an offer, so no thread waits before the end.
 */
struct team {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned members, waiting;
	struct offer {
		int dir;
		unsigned depth;
		char *path;
	} offers[OFFERS_MAX];
	unsigned n; /* number of offers; may be read without the lock where a wrong value is harmless */
	bool stop;
};

struct walk {
	tree_fn *fn;
	void *arg;
	struct buf path;
	unsigned depth;
	struct team *team;
	struct err *err;
	int rc;
};

static int walk_dir(struct walk *w, int dir, struct err *e);

/* Offers a directory, with its descriptor, to the other threads. */
static bool offer(struct walk *w, int dir)
{
	struct team *c = w->team;
	bool taken = false;

	if (c->members < 2 || __atomic_load_n(&c->n, __ATOMIC_RELAXED) == OFFERS_MAX)
		return false;
	pthread_mutex_lock(&c->lock);
	if (c->n < OFFERS_MAX && !c->stop) {
		c->offers[c->n] = (struct offer){ dir, w->depth, xstrdup(buf_str(&w->path)) };
		__atomic_add_fetch(&c->n, 1, __ATOMIC_RELAXED);
		if (c->waiting)
			pthread_cond_signal(&c->changed);
		taken = true;
	}
	pthread_mutex_unlock(&c->lock);
	return taken;
}

static int walk_into(struct walk *w, struct tree_entry *t, struct err *e)
{
	bool deep = w->depth >= TREE_MAX_DEPTH || w->path.len > 32 * 1024;
	int sub = deep ? -1 : open_beneath(t->dir, t->name, O_RDONLY | O_DIRECTORY, 0);

	if (sub >= 0)
		return offer(w, sub) ? 0 : walk_dir(w, sub, e);
	if (!deep && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	if (!deep && errno != EACCES)
		return err_sys(e, "cannot open directory '%s'", t->path);
	t->closed = true;
	return w->fn(t, w->arg, e) == TREE_STOP ? -1 : 0;
}

static int walk_entry(struct walk *w, int dir, const char *name, struct err *e)
{
	size_t len = w->path.len;
	struct tree_entry t = { .dir = dir, .name = name };
	int rc = 0;

	if (fstatat(dir, name, &t.st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EACCES)
			return err_sys(e, "cannot look at '%s'", name);
		/* the directory can be read but not entered */
		t.st = (struct stat){ .st_mode = S_IFDIR };
		t.closed = true;
	}
	if (len)
		buf_addch(&w->path, '/');
	buf_addstr(&w->path, name);
	if (w->path.overflow)
		return err_set(
			e, ERR_FAILED, "a path beneath the workspace is longer than %zu bytes", w->path.max);
	t.path = buf_str(&w->path);
	switch (w->fn(&t, w->arg, e)) {
	case TREE_STOP:
		rc = -1;
		break;
	case TREE_SKIP:
		break;
	case TREE_ON:
		if (S_ISDIR(t.st.st_mode) && !t.closed)
			rc = walk_into(w, &t, e);
	}
	buf_cut(&w->path, len);
	return rc;
}

/* Whether another thread has failed. */
static bool is_stopped(const struct walk *w)
{
	return __atomic_load_n(&w->team->stop, __ATOMIC_RELAXED);
}

/* Closes `dir`. Each level uses one descriptor, so the deepest allowed tree fits into the usual limit. */
static int walk_dir(struct walk *w, int dir, struct err *e)
{
	auto_dir d = fdopendir(dir);
	struct dirent *ent;
	int rc = 0;

	if (!d) {
		err_sys(e, "cannot read directory '%s'", buf_str(&w->path));
		close(dir);
		return -1;
	}
	w->depth++;
	while (!rc && !is_stopped(w) && (errno = 0, ent = readdir(d)))
		if (!dir_is_dot(ent->d_name))
			rc = walk_entry(w, dir, ent->d_name, e);
	if (!rc && errno)
		rc = err_sys(e, "cannot read directory '%s'", buf_str(&w->path));
	w->depth--;
	return rc;
}

/* Takes an offered directory; false if nothing is left to do. */
static bool take_over(struct walk *w, int *dir)
{
	struct team *c = w->team;
	bool got;

	pthread_mutex_lock(&c->lock);
	c->waiting++;
	while (!c->n && !c->stop && c->waiting < c->members)
		pthread_cond_wait(&c->changed, &c->lock);
	got = c->n && !c->stop;
	if (got) {
		struct offer o = c->offers[__atomic_sub_fetch(&c->n, 1, __ATOMIC_RELAXED)];

		*dir = o.dir;
		buf_cut(&w->path, 0);
		buf_addstr(&w->path, o.path);
		w->depth = o.depth;
		free(o.path);
		c->waiting--;
	} else {
		/* all threads wait, so nothing is left, or one failed: wake the others so
		 * that they end too */
		__atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return got;
}

static void *member(void *arg)
{
	struct walk *w = arg;
	int dir;

	while (take_over(w, &dir)) {
		w->rc = walk_dir(w, dir, w->err);
		if (w->rc < 0)
			__atomic_store_n(&w->team->stop, true, __ATOMIC_RELAXED);
	}
	return NULL;
}

int tree_walk_many(int root, tree_fn *fn, void *const *args, unsigned n, struct err *e)
{
	struct team team = { .lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.members = 1,
		.offers[0].dir = open_beneath(root, "", O_RDONLY | O_DIRECTORY, 0) };
	struct walk w[TREE_MAX_THREADS];
	struct err errs[TREE_MAX_THREADS] = { 0 };
	pthread_t threads[TREE_MAX_THREADS];
	int rc = 0;

	if (team.offers[0].dir < 0)
		return err_sys(e, "cannot read the directory");
	team.offers[team.n++].path = xstrdup("");
	/* no thread starts before all are counted: the walk is over when as many wait as are counted */
	pthread_mutex_lock(&team.lock);
	for (unsigned i = 0; i < n; i++) {
		w[i] = (struct walk){
			.fn = fn, .arg = args[i], .path = BUF_SMALL, .team = &team, .err = &errs[i]
		};
		if (i && pthread_create(&threads[i], NULL, member, &w[i]))
			break;
		team.members = i + 1;
	}
	pthread_mutex_unlock(&team.lock);
	member(&w[0]);
	for (unsigned i = 0; i < team.members; i++) {
		if (i)
			pthread_join(threads[i], NULL);
		buf_release(&w[i].path);
		if (w[i].rc < 0 && !rc)
			rc = w[i].rc, *e = errs[i];
	}
	for (unsigned i = 0; i < team.n; i++) {
		close(team.offers[i].dir);
		free(team.offers[i].path);
	}
	return rc;
}

int tree_walk(int root, tree_fn *fn, void *arg, struct err *e)
{
	return tree_walk_many(root, fn, &arg, 1, e);
}
