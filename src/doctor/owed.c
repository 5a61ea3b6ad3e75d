/* Tasks that lack their branch, or the refs that keep what they need: made again from what the store knows.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "doctor/refs.h"
#include "git/ref.h"
#include "sys/fault.h"
#include "sys/lock.h"
#include "task/archive.h"
#include "task/refs.h"
#include "task/remove.h"
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
	char now[65];

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

	if (refs_has(&k->heads, t->branch))
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

/* What is asked about the pins of one task after the other. */
struct pins {
	struct context *c;
	const struct repo *repo;
	const struct task_list *tasks;
	struct buf there; /* all pins */
	char *target;     /* whose shown refs these are: */
	struct buf shown;
	char set[33];
};
#define PINS_INIT(...)                                                                                       \
	{                                                                                                    \
		__VA_ARGS__, .there = BUF_INIT(REFS_MAX), .shown = BUF_INIT(REFS_MAX)                        \
	}

static void pins_release(struct pins *p)
{
	free(p->target);
	buf_release(&p->there);
	buf_release(&p->shown);
}
#define auto_pins __attribute__((cleanup(pins_release))) struct pins

static int read_there(struct pins *p, struct err *e)
{
	buf_reset(&p->there);
	return ref_list(p->repo, REFS_PINS, &p->there, e);
}

/* Most tasks of a project have the same target. */
static int read_shown(struct pins *p, const char *target, struct err *e)
{
	if (p->target && !strcmp(p->target, target))
		return 0;
	free(p->target);
	p->target = xstrdup(target);
	buf_reset(&p->shown);
	if (ref_shown(p->repo, target, NULL, &p->shown, e) < 0)
		return -1;
	refs_set_name(&p->c->home, &p->shown, p->set);
	return 0;
}

/* Those of snapshots that the store knows. */
static int owed_snapshots(struct pins *p, const struct task *t, struct ref_txn *txn, size_t *n, struct err *e)
{
	auto_snapshot_list l = { 0 };

	if (store_snapshot_list(p->c->store, t->id, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		auto_str ref = refs_snapshot(t->id, l.v[i].number);

		/* the first is the base */
		if (l.v[i].number < 2 || refs_has(&p->there, ref) || !ref_can_name(p->repo, l.v[i].commit))
			continue;
		ref_create(txn, ref, l.v[i].commit);
		(*n)++;
	}
	return 0;
}

/* Those of the shown refs, where these are still what the repository has: then it is known which. */
static int owed_shown(struct pins *p, const struct task *t, struct ref_txn *txn, size_t *n, struct err *e)
{
	struct refs_line l;

	if (read_shown(p, t->target, e) < 0)
		return -1;
	if (strcmp(p->set, t->shown))
		return 0;
	for (const char *at = buf_str(&p->shown); refs_next(&at, &l); free(l.ref)) {
		auto_str ref = xasprintf(REFS_PINS "shown/%s/%s", p->set, l.oid);

		if (refs_has(&p->there, ref) || (txn->text.data && strstr(txn->text.data, ref)))
			continue;
		ref_create(txn, ref, l.oid);
		(*n)++;
	}
	return 0;
}

static int owed_pins(struct pins *p, const struct task *t, struct ref_txn *txn, size_t *n, struct err *e)
{
	*n = 0;
	buf_reset(&txn->text);
	return owed_snapshots(p, t, txn, n, e) < 0 ? -1 : owed_shown(p, t, txn, n, e);
}

static int make_pins(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	auto_pins p = PINS_INIT(.c = c, .repo = &r, .tasks = &tasks);
	size_t n;

	if (store_task_by_id(c->store, f->task, &t, e) < 0 ||
		refs_open(c, t.project_id, &r, &tasks, &lock, e) < 0 || read_there(&p, e) < 0 ||
		owed_pins(&p, &t, &txn, &n, e) < 0)
		return -1;
	return ref_commit(&r, &txn, e);
}

/* A gateway at work tells the store of a snapshot before it makes the ref: what is owed is asked again when
 * nobody is at work. */
static int look_for_pins(struct refs_look *k, struct pins *p, const struct task *t, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	struct finding *f;
	size_t n;

	if (owed_pins(p, t, &txn, &n, e) < 0)
		return -1;
	if (!n || task_is_busy(k->c, t))
		return 0;
	if (read_there(p, e) < 0 || owed_pins(p, t, &txn, &n, e) < 0)
		return -1;
	if (!n || task_is_busy(k->c, t))
		return 0;
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

/* What a discarded task stands on, as refs_drop pins it, in so far as it is there. */
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
	const struct {
		const char *name, *oid;
	} pins[] = { { "base", t.base }, { "tip", was.tip }, { "published", t.published },
		{ "layer", t.layer } };
	for (size_t i = 0; i < ARRAY_SIZE(pins) && t.removed; i++) {
		auto_str ref = xasprintf(REFS_PINS "trash/%lld/%s", (long long)t.id, pins[i].name);

		if (*pins[i].oid && ref_can_name(&r, pins[i].oid))
			ref_set(&txn, ref, pins[i].oid);
	}
	return ref_commit(&r, &txn, e);
}

/* One that was discarded while its repository was out of reach has its branch instead. */
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
		"is in %s, and the refs that keep its commits are gone from '%s'",
		archived ? "its archive" : "the trash", k->p->project.name);
	f->task = t->id;
	finding_mend(f, pin_trash, "make them again");
}

int owed_look(struct refs_look *k, struct err *e)
{
	auto_pins p = PINS_INIT(.c = k->c, .repo = &k->p->repo, .tasks = &k->tasks);

	buf_add(&p.there, buf_str(&k->pins), k->pins.len);
	for (size_t i = 0; i < k->tasks.n; i++) {
		const struct task *t = &k->tasks.v[i];

		if (t->project_id == k->p->project.id && t->removed)
			look_at_trash(k, t);
		if (t->project_id != k->p->project.id || !survey_rests(t))
			continue;
		look_for_branch(k, t);
		if (look_for_pins(k, &p, t, e) < 0)
			return -1;
	}
	return 0;
}
