/* Finds tasks that lack their branch or their pins, and makes these again from the store. */
#include <stdlib.h>

#include "base/alloc.h"
#include "doctor/refs.h"
#include "git/ref.h"
#include "sys/fault.h"
#include "sys/lock.h"
#include "task/archive.h"
#include "task/refs.h"
#include "task/remove.h"
#include "task/shown.h"
#include "task/task.h"
#include "workspace/base.h"

static const char *known_tip(const struct task *t)
{
	return *t->published ? t->published : t->base;
}

static int make_branch(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	char now[OID_SIZE];

	if (store_task_by_id(c->store, f->task, &t, e) < 0 || survey_repo(c, t.project_id, &r, e) < 0 ||
		base_try_lock(&c->home, t.project_id, &lock, e) < 0 || ref_read(&r, t.branch, now, e) < 0)
		return -1;
	if (*now)
		return 0;
	ref_create(&txn, t.branch, known_tip(&t));
	fault("doctor-refs");
	return ref_commit(&r, &txn, e);
}

static void look_for_branch(struct refs_look *k, const struct task *t)
{
	struct finding *f;

	/* a rename that is not finished makes it */
	if (*t->ref_was || refs_has(&k->heads, t->branch))
		return;
	f = finding_add(k->out, "branch-missing", t->name, "its branch %s is gone from '%s'",
		t->branch + strlen("refs/heads/"), k->p->project.name);
	f->task = t->id;
	if (ref_can_name(&k->p->repo, known_tip(t)))
		finding_mend(f, make_branch, "make it again at %.12s, %s", known_tip(t),
			*t->published ? "as last published" : "where the task began");
	else
		finding_hint(f, "garth export %s DIR", t->name);
}

static int make_pins(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;

	if (store_task_by_id(c->store, f->task, &t, e) < 0 ||
		refs_open(c, t.project_id, &r, &tasks, &lock, e) < 0 || refs_keep(c, &r, &t, &txn, e) < 0)
		return -1;
	return ref_commit(&r, &txn, e);
}

/* A gateway adds a snapshot to the store before it updates the ref. So the count is repeated after a check
 * that nobody is working. */
static int look_for_pins(struct refs_look *k, const struct task *t, struct err *e)
{
	struct finding *f;
	size_t n;

	for (int twice = 0; twice < 2; twice++) {
		if (refs_count_owed(k->c, &k->p->repo, t, &n, e) < 0)
			return -1;
		if (!n || task_is_busy(k->c, t))
			return 0;
	}
	f = finding_add(k->out, "pins-missing", t->name,
		"%zu ref%s that keep%s what it needs %s gone from '%s'", n, n == 1 ? "" : "s",
		n == 1 ? "s" : "", n == 1 ? "is" : "are", k->p->project.name);
	f->task = t->id;
	finding_mend(f, make_pins, "make %s again", n == 1 ? "it" : "them");
	return 0;
}

static int deed_of(struct context *c, int64_t task, struct deed *ret, struct err *e)
{
	if (!store_deed_of(c->store, task, "discard", ret, e))
		return 0;
	return e->kind == ERR_NOTFOUND ? store_deed_of(c->store, task, "archive", ret, e) : -1;
}

/* Pins what a discarded task needs, as refs_drop does, as far as the commits exist. */
static int pin_trash(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_discarded was = { 0 };
	auto_deed d = { 0 };
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;

	if (store_task_any(c->store, f->task, &t, e) < 0 || deed_of(c, f->task, &d, e) < 0 ||
		discarded_read(&d, &was, e) < 0 || survey_repo(c, t.project_id, &r, e) < 0 ||
		base_try_lock(&c->home, t.project_id, &lock, e) < 0)
		return -1;
	if (t.removed && refs_add_trash(c, &r, &t, was.tip, &txn, e) < 0)
		return -1;
	return ref_commit(&r, &txn, e);
}

/* A task that was discarded while its repository was not available still has its branch instead. */
static void look_at_trash(struct refs_look *k, const struct task *t)
{
	auto_str keep = xasprintf("%lld/keep", (long long)t->id);
	auto_str pins = xasprintf(" " REFS_PINS "trash/%lld/", (long long)t->id);
	auto_str old_form = xasprintf(REFS_PINS "trash/%lld", (long long)t->id);
	auto_deed d = { 0 };
	struct err ignored = ERR_INIT;
	struct finding *f;

	bool archived = archive_is_there(k->c, t);

	if ((!archived && !survey_is_there(k->c, "trash", keep)) || strstr(buf_str(&k->pins), pins) ||
		refs_has(&k->pins, old_form) || refs_has(&k->heads, t->branch) ||
		!ref_can_name(&k->p->repo, t->base) || deed_of(k->c, t->id, &d, &ignored) < 0 ||
		task_is_busy(k->c, t))
		return;
	f = finding_add(k->out, "pins-missing", t->name,
		"is in %s, and the ref that keeps its commits is gone from '%s'",
		archived ? "its archive" : "the trash", k->p->project.name);
	f->task = t->id;
	finding_mend(f, pin_trash, "make it again");
}

int missing_refs_look(struct refs_look *k, struct err *e)
{
	for (size_t i = 0; i < k->tasks.n; i++) {
		const struct task *t = &k->tasks.v[i];

		if (t->project_id == k->p->project.id && t->removed)
			look_at_trash(k, t);
		if (t->project_id != k->p->project.id || !survey_rests(t))
			continue;
		look_for_branch(k, t);
		/* tasks of an earlier version are checked after their refs are converted */
		if (shown_is_known(t) && look_for_pins(k, t, e) < 0)
			return -1;
	}
	return 0;
}
