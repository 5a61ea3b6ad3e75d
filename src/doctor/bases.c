/*
 * Finds bases that were changed, and incomplete ones. A base is frozen: the file `bound` is written last, and
 * nothing in the tree changes after that. If something has a later change time, it was touched; only then all
 * contents are compared (compare_base.c).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/compare_base.h"
#include "doctor/found.h"
#include "doctor/parts.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/tree.h"
#include "task/task.h"
#include "workspace/base.h"
#include "workspace/submodules.h"

#define TASKS_MAX 1000

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

struct freeze {
	struct timespec at;
	bool touched;
};

static enum tree_next look_at_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct freeze *f = arg;

	f->touched |= t->closed || is_later(&t->st.st_ctim, &f->at);
	if (f->touched)
		err_set(e, ERR_CONFLICT, "touched");
	return f->touched ? TREE_STOP : TREE_ON;
}

static bool was_touched(int dir, int tree)
{
	struct err ignored = ERR_INIT;
	struct freeze f = { 0 };
	struct stat last, top;

	if ((fstatat(dir, "bound", &last, AT_SYMLINK_NOFOLLOW) < 0 &&
		    fstatat(dir, "seed", &last, AT_SYMLINK_NOFOLLOW) < 0) ||
		fstat(tree, &top) < 0)
		return true;
	f.at = last.st_ctim;
	f.touched = is_later(&top.st_ctim, &f.at);
	if (!f.touched)
		tree_walk(tree, look_at_entry, &f, &ignored);
	return f.touched;
}

static bool is_of_submodule(const char *name)
{
	return strchr(name, '@');
}

/* The submodule of the task whose base has this name; NULL. *list has it. */
static const struct submodule *submodule_on(
	struct context *c, const struct task *t, const char *name, struct submodules *list)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, &ignored) < 0 || submodules_load(dir, list, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < list->n; i++) {
		auto_str base = base_submodule_name(list->v[i].commit, list->v[i].path);

		if (submodule_is_here(&list->v[i]) && !strcmp(base, name))
			return &list->v[i];
	}
	return NULL;
}

/* Whether a task uses the base: directly, through a delta, or in a submodule. */
static bool uses_base(struct context *c, const struct task *t, int64_t project, const char *name)
{
	auto_submodules list = { 0 };
	auto_base b = { 0 };
	struct err ignored = ERR_INIT;

	if (t->project_id != project || t->removed || !*t->layer || backend_of(t)->on_host)
		return false;
	if (is_of_submodule(name))
		return submodule_on(c, t, name, &list);
	return !strcmp(t->layer, name) ||
	       (!base_open(&c->home, project, t->layer, &b, &ignored) && !strcmp(b.monitor_id, name));
}

static void name_busy(struct survey *s, int64_t project, const char *name, struct buf *out)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (uses_base(s->c, &s->tasks.v[i], project, name) && task_is_busy(s->c, &s->tasks.v[i]))
			buf_printf(out, "%s%s", out->len ? " " : "", s->tasks.v[i].name);
}

/* Locks all tasks that use the base, so that none of them starts while the base is moved. */
static int lock_tasks(
	struct context *c, int64_t project, const char *name, int *locks, size_t *n, struct err *e)
{
	auto_task_list tasks = { 0 };

	if (store_task_list(c->store, false, &tasks, e) < 0)
		return -1;
	for (size_t i = 0; i < tasks.n && *n < TASKS_MAX; i++) {
		auto_fd dir = -1;

		if (!uses_base(c, &tasks.v[i], project, name))
			continue;
		if (home_task_dir(&c->home, tasks.v[i].id, &dir, e) < 0) {
			if (e->kind != ERR_NOTFOUND)
				return -1;
			continue;
		}
		if (lock_take(dir, "lock", false, &locks[*n], e) < 0)
			return err_wrap(e, "task '%s' uses it", tasks.v[i].name);
		(*n)++;
	}
	return 0;
}

static int move_aside(struct context *c, struct finding *f, struct err *e)
{
	auto_str place = xasprintf("bases/%lld", (long long)f->project), to = NULL;
	int *locks = xcalloc(TASKS_MAX, sizeof(*locks));
	auto_lock lock = -1;
	size_t n = 0;
	int rc = -1;

	if (!base_try_lock(&c->home, f->project, &lock, e) &&
		!lock_tasks(c, f->project, f->path, locks, &n, e)) {
		rc = survey_is_there(c, place, f->path) ? found_move(c, place, f->path, NULL, &to, e) : 0;
		fault("doctor-base");
	}
	while (n)
		lock_drop(&locks[--n]);
	free(locks);
	if (to)
		finding_said(f, "it is in %s; the next start makes it again", to);
	return rc;
}

static int drop_half(struct context *c, struct finding *f, struct err *e)
{
	auto_str path = xasprintf("bases/%lld/%s", (long long)f->project, f->path);
	auto_lock lock = -1;

	return base_try_lock(&c->home, f->project, &lock, e) < 0 ? -1 : tree_remove(c->home.fd, path, e);
}

/* Under the project's lock nobody is making or removing a base. */
static void look_at_half(struct survey *s, int64_t project, const char *name, struct findings *out)
{
	auto_str place = xasprintf("bases/%lld", (long long)project);
	auto_str path = home_path(&s->c->home, "%s/%s", place, name);
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;
	struct finding *f;

	if (base_try_lock(&s->c->home, project, &lock, &ignored) < 0 || !survey_is_there(s->c, place, name))
		return;
	f = finding_add(out, "base-half", path, "half of a base: making or removing it was cut short");
	f->project = project;
	f->path = xstrdup(name);
	finding_mend(f, drop_half, "remove it; nobody's work is in it");
}

static bool is_same_dir(const struct survey *s, const char *path, int dir)
{
	struct stat then, now;

	return !fstat(dir, &then) && !fstatat(s->c->home.fd, path, &now, AT_SYMLINK_NOFOLLOW) &&
	       then.st_ino == now.st_ino && then.st_dev == now.st_dev;
}

/* Compares it with the submodule's repository, which a task on it names. If no task is on it, the next removal of a
 * task removes it. */
static int compare_submodule(struct survey *s, const struct survey_project *p, const struct base *b, int tree,
	struct buf *what, struct err *e)
{
	for (size_t i = 0; i < s->tasks.n; i++) {
		auto_submodules list = { 0 };
		const struct submodule *sub;
		auto_repo r = { 0 };

		if (!uses_base(s->c, &s->tasks.v[i], p->project.id, b->name) ||
			!(sub = submodule_on(s->c, &s->tasks.v[i], b->name, &list)))
			continue;
		return survey_submodule(p, sub->git_dir, &r, e) < 0
			       ? -1
			       : compare_submodule_base(&r, b, sub->path, tree, what, e);
	}
	return 0;
}

static void look_at_base(
	struct survey *s, const struct survey_project *p, const char *name, struct findings *out)
{
	auto_str path = xasprintf("bases/%lld/%s", (long long)p->project.id, name);
	auto_str full = home_path(&s->c->home, "%s", path);
	auto_fd dir = openat(s->c->home.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_fd tree = dir < 0 ? -1 : openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_buf what = BUF_SMALL, busy = BUF_SMALL;
	struct err e = ERR_INIT;
	auto_base b = { 0 };
	struct finding *f;

	/* one that was not synced before a crash is made again anyway */
	if (dir < 0 || base_open(&s->c->home, p->project.id, name, &b, &e) < 0)
		return;
	if (tree >= 0 && !was_touched(dir, tree))
		return;
	if (tree < 0)
		buf_addstr(&what, "its files are gone");
	else if ((is_of_submodule(name) ? compare_submodule(s, p, &b, tree, &what, &e)
					: compare_base(&p->repo, &b, tree, &what, &e)) < 0)
		buf_addstr(&what, e.msg);
	/* if it is being removed, it differs of course */
	if (!what.len || !is_same_dir(s, path, dir))
		return;
	f = finding_add(out, "base-changed", full, "a base is not what was checked out: %s", buf_str(&what));
	f->project = p->project.id;
	f->path = xstrdup(name);
	name_busy(s, p->project.id, name, &busy);
	if (busy.len)
		finding_hint(f, "for t in %s; do garth cancel \"$t\"; done; garth doctor --repair",
			buf_str(&busy));
	else
		finding_mend(f, move_aside, "move it to the trash; the next start on it makes it again");
}

int bases_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		auto_str place = xasprintf("bases/%lld", (long long)s->v[i].project.id);
		auto_strvec names = STRVEC_INIT;

		if (!survey_is_there(s->c, "bases", place + strlen("bases/")))
			continue;
		if (survey_names(s->c, place, &names, e) < 0)
			return -1;
		for (size_t j = 0; j < names.n; j++) {
			if (ends_in(names.v[j], ".part") || ends_in(names.v[j], ".gone"))
				look_at_half(s, s->v[i].project.id, names.v[j], out);
			else if (s->v[i].open && strcmp(names.v[j], "lock"))
				look_at_base(s, &s->v[i], names.v[j], out);
		}
	}
	return 0;
}
