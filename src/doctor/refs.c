/*
 * Finds Garth's refs in the users' repositories that belong to no task.
 *
 * Another Garth home may have tasks in the same repository, so a ref counts as this home's only if the store
 * remembers its task. Such a ref is removed if the user's own refs reach its commits. If nothing else reaches
 * them, it stays and is reported.
 */
#include "doctor/refs.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "git/pin.h"
#include "git/ref.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/archive.h"
#include "task/refs.h"
#include "task/refs_old.h"
#include "task/remove.h"
#include "task/shown.h"
#include "task/task.h"
#include "workspace/base.h"
#include "workspace/submodules.h"

bool refs_next(const char **at, struct refs_line *ret)
{
	size_t oid = strcspn(*at, " ");

	if (!**at)
		return false;
	snprintf(ret->oid, sizeof(ret->oid), "%.*s", (int)oid, *at);
	*at += oid + 1;
	ret->ref = xstrndup(*at, strcspn(*at, "\n"));
	*at += strlen(ret->ref) + 1;
	return true;
}

bool refs_has(const struct buf *lines, const char *ref)
{
	auto_str line = xasprintf(" %s\n", ref);

	return strstr(buf_str(lines), line) != NULL;
}

bool refs_can_be_restored(const struct context *c, const struct task *t)
{
	auto_str name = xasprintf("%lld", (long long)t->id), gone = xasprintf("%lld.gone", (long long)t->id);

	return survey_is_there(c, "trash", name) || survey_is_there(c, "trash", gone) ||
	       archive_is_there(c, t);
}

static enum refs_owner owner_of_number(const struct context *c, const struct task_list *tasks, int64_t id)
{
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->v[i].id == id)
			return tasks->v[i].removed && !refs_can_be_restored(c, &tasks->v[i]) ? OWNER_REMOVED
											     : OWNER_TASK;
	return OWNER_UNKNOWN;
}

static enum refs_owner owner_of_set(const struct task_list *tasks, int64_t project, const char *set)
{
	enum refs_owner o = OWNER_UNKNOWN;

	for (size_t i = 0; i < tasks->n && o != OWNER_TASK; i++)
		if (tasks->v[i].project_id == project && !strcmp(tasks->v[i].shown, set))
			o = tasks->v[i].removed ? OWNER_REMOVED : OWNER_TASK;
	return o;
}

char *refs_group_of(const char *ref)
{
	const char *name = ref + strlen(REFS_PINS), *slash = strchr(name, '/');

	return slash ? xstrndup(name, (size_t)(slash - name) + 1 + strcspn(slash + 1, "/")) : xstrdup(name);
}

enum refs_owner refs_owner_of(
	struct context *c, const struct task_list *tasks, int64_t project, const char *group)
{
	const char *key = strchr(group, '/') ? strchr(group, '/') + 1 : "";

	if (!strncmp(group, "shown/", 6))
		return owner_of_set(tasks, project, key);
	if (!strncmp(key, REMOVE_FOUND, strlen(REMOVE_FOUND)))
		return survey_is_there(c, "trash", key) ? OWNER_TASK : OWNER_UNKNOWN;
	return survey_number(key) ? owner_of_number(c, tasks, survey_number(key)) : OWNER_UNKNOWN;
}

/* Garth made the commit of a ref `kept`: check the commits that it keeps. */
static bool is_reached(const struct repo *r, const struct refs_line *l)
{
	auto_strvec commits = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	size_t n = strlen(l->ref);

	if (n < 5 || strcmp(l->ref + n - 5, "/kept") != 0)
		return ref_is_reached(r, l->oid);
	if (pin_read(r, l->oid, &commits, &ignored) < 0)
		return false;
	for (size_t i = 0; i < commits.n; i++)
		if (!ref_is_reached(r, commits.v[i]))
			return false;
	return true;
}

int refs_count_group(
	const struct repo *r, const char *group, struct ref_txn *drop, size_t *n, size_t *only, struct err *e)
{
	auto_str prefix = xasprintf(REFS_PINS "%s", group);
	auto_buf lines = BUF_INIT(REFS_MAX);
	struct refs_line l;

	*n = *only = 0;
	if (ref_list(r, prefix, &lines, e) < 0)
		return -1;
	for (const char *at = buf_str(&lines); refs_next(&at, &l); free(l.ref)) {
		(*n)++;
		if (!is_reached(r, &l))
			(*only)++;
		else if (drop)
			ref_remove(drop, l.ref, l.oid);
	}
	return 0;
}

int refs_open(
	struct context *c, int64_t project, struct repo *r, struct task_list *tasks, int *lock, struct err *e)
{
	if (survey_repo(c, project, r, e) < 0 || base_try_lock(&c->home, project, lock, e) < 0)
		return -1;
	return store_task_list(c->store, true, tasks, e);
}

static int drop_group(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	size_t n, only;

	if (refs_open(c, f->project, &r, &tasks, &lock, e) < 0)
		return -1;
	if (refs_owner_of(c, &tasks, f->project, f->path) != OWNER_REMOVED)
		return err_set(e, ERR_BUSY, "a task has them now");
	if (refs_count_group(&r, f->path, &txn, &n, &only, e) < 0)
		return -1;
	fault("doctor-refs");
	return ref_commit(&r, &txn, e);
}

static int look_at_group(struct refs_look *k, const char *group, struct err *e)
{
	auto_str name = xasprintf(REFS_PINS "%s", group);
	struct finding *f;
	size_t n, only;

	if (refs_count_group(&k->p->repo, group, NULL, &n, &only, e) < 0)
		return -1;
	/* removed meanwhile, with its trash */
	if (!n)
		return 0;
	if (only) {
		f = finding_add(k->out, "pins-orphaned", name,
			"of a task that is removed; %zu of its %zu refs in '%s' keep%s what no other ref reaches",
			only, n, k->p->project.name, only == 1 ? "s" : "");
		f->note = true;
		return 0;
	}
	f = finding_add(k->out, "pins-orphaned", name, "of a task that is removed: %zu ref%s in '%s'", n,
		n == 1 ? "" : "s", k->p->project.name);
	f->project = k->p->project.id;
	f->path = xstrdup(group);
	finding_mend(f, drop_group, "remove %s; other refs reach all that %s", n == 1 ? "it" : "them",
		n == 1 ? "it keeps" : "they keep");
	return 0;
}

static int drop_fetched(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	auto_buf lines = BUF_INIT(REFS_MAX);
	auto_repo r = { 0 };
	auto_lock lock = -1;
	struct refs_line l;

	if (refs_open(c, f->project, &r, &tasks, &lock, e) < 0 ||
		ref_list(&r, REFS_PINS "fetched", &lines, e) < 0)
		return -1;
	for (const char *at = buf_str(&lines); refs_next(&at, &l); free(l.ref))
		if (refs_is_fetch_left(&c->home, l.ref))
			ref_remove(&txn, l.ref, l.oid);
	return ref_commit(&r, &txn, e);
}

/* Fetched commits are still on the remote, so these refs can go. */
static void look_at_fetched(struct refs_look *k)
{
	struct refs_line l;
	struct finding *f;
	size_t n = 0;

	for (const char *at = buf_str(&k->pins); refs_next(&at, &l); free(l.ref))
		n += refs_is_fetch_left(&k->c->home, l.ref);
	if (!n)
		return;
	f = finding_add(k->out, "fetch-left", k->p->project.name, "%zu ref%s of fetches that were cut short",
		n, n == 1 ? "" : "s");
	f->project = k->p->project.id;
	finding_mend(f, drop_fetched, "remove %s", n == 1 ? "it" : "them");
}

static int move_old(struct context *c, struct finding *f, struct err *e)
{
	auto_task_list tasks = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;

	if (refs_open(c, f->project, &r, &tasks, &lock, e) < 0)
		return -1;
	return refs_old_move_all(c, &r, f->project, e);
}

/* How many refs a task has that only an earlier version makes. */
static size_t count_old(const struct refs_look *k, const struct task *t)
{
	auto_str set = xasprintf("shown/%s", t->shown),
		 snapshots = xasprintf("snapshots/%lld", (long long)t->id),
		 trash = xasprintf("trash/%lld", (long long)t->id);
	const char *const names[] = { set, snapshots, trash };
	struct refs_line l;
	size_t n = 0;

	for (const char *at = buf_str(&k->pins); refs_next(&at, &l); free(l.ref)) {
		auto_str group = refs_group_of(l.ref);

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			n += !strcmp(group, names[i]);
	}
	return n;
}

/* They are converted when the next task of the project is made, or now. */
static void look_for_old(struct refs_look *k)
{
	struct finding *f;
	size_t n = 0;

	for (size_t i = 0; i < k->tasks.n; i++) {
		const struct task *t = &k->tasks.v[i];

		if (t->project_id == k->p->project.id && !shown_is_known(t) && !task_is_busy(k->c, t) &&
			(!t->removed || refs_can_be_restored(k->c, t)))
			n += count_old(k, t);
	}
	if (!n)
		return;
	f = finding_add(k->out, "pins-old", k->p->project.name,
		"%zu ref%s of an earlier version, which had one for each tag and snapshot", n,
		n == 1 ? "" : "s");
	f->project = k->p->project.id;
	finding_mend(f, move_old, "keep the same commits with one or two for each task");
}

static int look_at_pins(struct refs_look *k, struct err *e)
{
	auto_str last = NULL;
	size_t unknown = 0;
	struct refs_line l;

	for (const char *at = buf_str(&k->pins); refs_next(&at, &l); free(l.ref)) {
		auto_str group = refs_group_of(l.ref);
		enum refs_owner o = refs_owner_of(k->c, &k->tasks, k->p->project.id, group);

		unknown += o == OWNER_UNKNOWN && strncmp(group, "fetched/", 8) != 0;
		if (o == OWNER_REMOVED && (!last || strcmp(last, group)) && look_at_group(k, group, e) < 0)
			return free(l.ref), -1;
		free(last);
		last = steal_ptr(group);
	}
	if (unknown)
		finding_add(k->out, "pins-unknown", REFS_PINS,
			"%zu ref%s in '%s' of no task in the store; another Garth home may have them",
			unknown, unknown == 1 ? "" : "s", k->p->project.name)
			->note = true;
	return 0;
}

/* Whether the branch is still where a removed task of this home left it that cannot be restored. */
static bool was_ours(
	struct context *c, const struct task_list *tasks, int64_t project, const struct refs_line *l)
{
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *t = &tasks->v[i];

		if (t->project_id == project && !strcmp(t->branch, l->ref) && t->removed &&
			!refs_can_be_restored(c, t) &&
			(!strcmp(t->base, l->oid) || !strcmp(t->published, l->oid)))
			return true;
	}
	return false;
}

/* Whether the repository is that of a submodule of the task. */
static bool is_submodule_of(struct context *c, const struct task *t, const struct repo *r)
{
	auto_str name = xasprintf("%s/%lld", t->removed ? "trash" : "tasks", (long long)t->id);
	auto_fd dir = openat(c->home.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct err ignored = ERR_INIT;
	auto_submodules s = { 0 };

	if (dir < 0 || submodules_load(dir, &s, &ignored) < 0)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strcmp(s.v[i].git_dir, r->git_dir))
			return true;
	return false;
}

/* Whether a task of another project has published to this repository, as that of a submodule (submodules.c). */
static bool is_branch_around(struct refs_look *k, const char *ref)
{
	for (size_t i = 0; i < k->tasks.n; i++) {
		const struct task *t = &k->tasks.v[i];

		if (t->project_id != k->p->project.id && !strcmp(t->branch, ref) &&
			is_submodule_of(k->c, t, &k->p->repo))
			return true;
	}
	return false;
}

/* Whether a task has the branch, or would have it after it is restored from the trash. */
static bool is_branch_of(struct context *c, const struct task_list *tasks, int64_t project, const char *ref)
{
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *t = &tasks->v[i];

		if (t->project_id == project && (!strcmp(t->branch, ref) || !strcmp(t->ref_was, ref)) &&
			(!t->removed || refs_can_be_restored(c, t)))
			return true;
	}
	return false;
}

bool refs_is_checked_out(const struct repo *r, const char *ref)
{
	struct err ignored = ERR_INIT;
	auto_str top = NULL;

	return worktree_with_branch(r, ref, &top, &ignored) < 0 || top;
}

static int drop_branch(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;

	if (refs_open(c, f->project, &r, &tasks, &lock, e) < 0)
		return -1;
	if (is_branch_of(c, &tasks, f->project, f->path) || refs_is_checked_out(&r, f->path) ||
		!ref_is_reached(&r, f->oid))
		return err_set(e, ERR_BUSY, "somebody has it now");
	ref_remove(&txn, f->path, f->oid);
	return ref_commit(&r, &txn, e);
}

static void look_at_branch(struct refs_look *k, const struct refs_line *l)
{
	const char *name = l->ref + strlen("refs/heads/");
	bool reached = ref_is_reached(&k->p->repo, l->oid);
	struct finding *f;

	if (reached && was_ours(k->c, &k->tasks, k->p->project.id, l) &&
		!refs_is_checked_out(&k->p->repo, l->ref)) {
		f = finding_add(k->out, "branch-orphaned", name, "a branch in '%s' whose task is removed",
			k->p->project.name);
		f->project = k->p->project.id;
		f->path = xstrdup(l->ref);
		f->oid = xstrdup(l->oid);
		finding_mend(f, drop_branch, "remove it; other branches have all of its commits");
		return;
	}
	f = finding_add(k->out, "branch-unknown", name, "a branch in '%s' that no task has%s",
		k->p->project.name, reached ? "" : "; it has commits that are nowhere else");
	f->note = true;
}

static void look_at_branches(struct refs_look *k)
{
	struct refs_line l;

	for (const char *at = buf_str(&k->heads); refs_next(&at, &l); free(l.ref))
		if (!is_branch_of(k->c, &k->tasks, k->p->project.id, l.ref) && !is_branch_around(k, l.ref))
			look_at_branch(k, &l);
}

static int look_at_project(struct refs_look *k, struct err *e)
{
	auto_lock lock = -1;

	if (base_try_lock(&k->c->home, k->p->project.id, &lock, e) < 0) {
		if (e->kind != ERR_BUSY)
			return -1;
		finding_add(k->out, "unseen", k->p->project.name,
			"its refs were not looked at: another command is at work")
			->note = true;
		return 0;
	}
	/* a task is in the store before its creator waits for this lock, and stays there until its refs are
	 * removed */
	if (ref_list(&k->p->repo, REFS_HEADS, &k->heads, e) < 0 ||
		ref_list(&k->p->repo, REFS_PINS, &k->pins, e) < 0 ||
		store_task_list(k->c->store, true, &k->tasks, e) < 0 || look_at_pins(k, e) < 0)
		return -1;
	look_at_branches(k);
	look_at_fetched(k);
	look_for_old(k);
	return missing_refs_look(k, e);
}

int refs_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		struct refs_look k = { .c = s->c,
			.p = &s->v[i],
			.heads = BUF_INIT(REFS_MAX),
			.pins = BUF_INIT(REFS_MAX),
			.out = out };
		int rc = k.p->open ? look_at_project(&k, e) : 0;

		task_list_release(&k.tasks);
		buf_release(&k.heads);
		buf_release(&k.pins);
		if (rc < 0)
			return -1;
	}
	return 0;
}
