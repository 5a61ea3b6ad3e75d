/*
 * Garth's refs in the repositories of submodules (task/submodule_refs.h): finds those that belong to no task, and those
 * that a task lacks. As in refs.c, a ref is not removed if no other ref reaches its commits. A branch that stayed because
 * the superproject names its commits is reported until another branch has them; then it can be removed.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "doctor/refs.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/submodule_refs.h"
#include "task/task.h"
#include "workspace/base.h"

/* One repository. */
struct look {
	struct context *c;
	const struct survey_project *p;
	const struct task_list *tasks; /* with removed ones */
	struct repo repo;
	struct findings *out;
};

/* "garth/fix in .git/modules/lib": the repository's path is from the checkout, if it is there. On the heap. */
static char *name_in(const struct look *l, const char *name)
{
	size_t n = strlen(l->p->project.path);

	return xasprintf("%s in %s", name,
		!strncmp(l->repo.git_dir, l->p->project.path, n) && l->repo.git_dir[n] == '/'
			? l->repo.git_dir + n + 1
			: l->repo.git_dir);
}

/* Whether a task has the branch, or would have it after it is restored: one of this project, or one of a project whose
 * repository this is. */
static bool has_task(const struct look *l, const char *ref)
{
	auto_project own = { 0 };
	struct err ignored = ERR_INIT;

	store_project_by_git_dir(l->c->store, l->repo.git_dir, &own, &ignored);
	for (size_t i = 0; i < l->tasks->n; i++) {
		const struct task *t = &l->tasks->v[i];

		if ((t->project_id == l->p->project.id || t->project_id == own.id) &&
			(!strcmp(t->branch, ref) || !strcmp(t->ref_was, ref)) &&
			(!t->removed || refs_can_be_restored(l->c, t)))
			return true;
	}
	return false;
}

/* Whether the branch is where a removed task of this home left it. */
static bool was_ours(const struct look *l, const struct refs_line *line)
{
	for (size_t i = 0; i < l->tasks->n; i++) {
		const struct task *t = &l->tasks->v[i];
		struct err ignored = ERR_INIT;
		bool has = false;

		if (t->project_id == l->p->project.id && !strcmp(t->branch, line->ref) && t->removed &&
			!store_submodule_has(l->c->store, t->id, line->oid, &has, &ignored) && has)
			return true;
	}
	return false;
}

static int open_locked(struct context *c, const struct finding *f, struct repo *r, int *lock, struct err *e)
{
	struct survey_project p = { 0 };

	if (base_try_lock(&c->home, f->project, lock, e) < 0 || survey_repo(c, f->project, &p.repo, e) < 0)
		return -1;
	int rc = survey_submodule(&p, f->path, r, e);

	repo_release(&p.repo);
	return rc;
}

static int drop_branch(struct context *c, struct finding *f, struct err *e)
{
	const char *ref = f->ref;
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	struct survey_project p = { .project.id = f->project, .project.path = (char *)"" };
	struct look l = { .c = c, .p = &p, .tasks = &tasks };
	auto_lock lock = -1;
	int rc = 0;

	if (open_locked(c, f, &l.repo, &lock, e) < 0)
		return -1;
	if (store_task_list(c->store, true, &tasks, e) < 0)
		rc = -1;
	else if (has_task(&l, ref) || refs_is_checked_out(&l.repo, ref) || !ref_is_reached(&l.repo, f->oid))
		rc = err_set(e, ERR_BUSY, "somebody has it now");
	ref_remove(&txn, ref, f->oid);
	if (!rc)
		rc = ref_commit(&l.repo, &txn, e);
	repo_release(&l.repo);
	return rc;
}

static void look_at_branch(struct look *l, const struct refs_line *line)
{
	auto_str name = name_in(l, ref_short(line->ref));
	bool reached = ref_is_reached(&l->repo, line->oid), ours = was_ours(l, line);
	struct finding *f;

	if (reached && ours && !refs_is_checked_out(&l->repo, line->ref)) {
		f = finding_add(
			l->out, "branch-orphaned", name, "a submodule's branch whose task is removed");
		f->project = l->p->project.id;
		f->ref = xstrdup(line->ref);
		f->path = xstrdup(l->repo.git_dir);
		f->oid = xstrdup(line->oid);
		finding_mend(f, drop_branch, "remove it; other branches have all of its commits");
		return;
	}
	f = finding_add(l->out, "branch-unknown", name, "a submodule's branch %s%s",
		ours ? "whose task is removed" : "that no task has",
		reached ? "" : "; it has commits that are on no other branch");
	f->note = true;
}

static int drop_group(struct context *c, struct finding *f, struct err *e)
{
	const char *group = f->ref;
	auto_ref_txn txn = REF_TXN_INIT;
	auto_task_list tasks = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	size_t n, only;

	if (open_locked(c, f, &r, &lock, e) < 0 || store_task_list(c->store, true, &tasks, e) < 0)
		return -1;
	if (refs_owner_of(c, &tasks, f->project, group) != OWNER_REMOVED)
		return err_set(e, ERR_BUSY, "a task has them now");
	return refs_count_group(&r, group, &txn, &n, &only, e) < 0 ? -1 : ref_commit(&r, &txn, e);
}

static int look_at_group(struct look *l, const char *group, struct err *e)
{
	auto_str ref = xasprintf(REFS_PINS "%s", group), name = name_in(l, ref);
	struct finding *f;
	size_t n, only;

	if (refs_count_group(&l->repo, group, NULL, &n, &only, e) < 0)
		return -1;
	if (!n)
		return 0;
	f = finding_add(l->out, "pins-orphaned", name,
		only ? "%zu ref%s of a task that is removed, with commits that no other ref reaches"
		     : "%zu ref%s of a task that is removed",
		n, n == 1 ? "" : "s");
	f->note = only;
	if (only)
		return 0;
	f->project = l->p->project.id;
	f->path = xstrdup(l->repo.git_dir);
	f->ref = xstrdup(group);
	finding_mend(f, drop_group, "remove %s; other refs reach all that %s", n == 1 ? "it" : "them",
		n == 1 ? "it keeps" : "they keep");
	return 0;
}

static int look_at_refs(struct look *l, struct err *e)
{
	auto_buf heads = BUF_INIT(REFS_MAX), pins = BUF_INIT(REFS_MAX);
	auto_str last = NULL;
	struct refs_line line;
	size_t unknown = 0;

	if (ref_list(&l->repo, REFS_HEADS, &heads, e) < 0 || ref_list(&l->repo, REFS_PINS, &pins, e) < 0)
		return -1;
	for (const char *at = buf_str(&heads); refs_next(&at, &line); free(line.ref))
		if (!has_task(l, line.ref))
			look_at_branch(l, &line);
	for (const char *at = buf_str(&pins); refs_next(&at, &line); free(line.ref)) {
		auto_str group = refs_group_of(line.ref);
		enum refs_owner o = refs_owner_of(l->c, l->tasks, l->p->project.id, group);

		unknown += o == OWNER_UNKNOWN && strncmp(group, "fetched/", 8) != 0;
		if (o == OWNER_REMOVED && (!last || strcmp(last, group)) && look_at_group(l, group, e) < 0)
			return free(line.ref), -1;
		free(last);
		last = steal_ptr(group);
	}
	if (unknown) {
		auto_str name = name_in(l, REFS_PINS);

		finding_add(l->out, "pins-unknown", name,
			"%zu ref%s of no task in the store; another Garth home may have them", unknown,
			unknown == 1 ? "" : "s")
			->note = true;
	}
	return 0;
}

/* Makes the branch, or of a removed task the ref that keeps its tip. */
static int make_ref(struct context *c, struct finding *f, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_str pin = xasprintf(REFS_PINS "trash/%lld/tip", (long long)f->task);
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	char now[OID_SIZE];

	if (store_task_any(c->store, f->task, &t, e) < 0 || open_locked(c, f, &r, &lock, e) < 0 ||
		ref_read(&r, t.branch, now, e) < 0)
		return -1;
	if (*now)
		return 0;
	ref_set(&txn, t.removed ? pin : t.branch, f->oid);
	return ref_commit(&r, &txn, e);
}

static void report_missing(struct look *l, const struct task *t, const char *git_dir, const char *oid)
{
	auto_str name = name_in(l, t->name);
	struct finding *f = finding_add(l->out, t->removed ? "pins-missing" : "branch-missing", name, "%s",
		t->removed
			? "the task is in the trash, and the submodule's ref that keeps its commits is gone"
			: "the submodule's branch is gone");

	f->task = t->id;
	f->project = t->project_id;
	f->path = xstrdup(git_dir);
	f->oid = xstrdup(oid);
	finding_mend(f, make_ref, "make it again at %.12s", oid);
}

static void look_for_branch(struct look *l, const struct task *t, const char *path, const char *git_dir)
{
	struct submodule_row row;
	struct err ignored = ERR_INIT;
	char now[OID_SIZE];

	if (!*t->ref_was && !store_submodule(l->c->store, t->id, path, &row, &ignored) && *row.published &&
		!ref_read(&l->repo, t->branch, now, &ignored) && !*now &&
		ref_can_name(&l->repo, row.published) && !task_is_busy(l->c, t))
		report_missing(l, t, git_dir, row.published);
}

static void look_for_pin(struct look *l, const struct task *t, const struct submodule_ref *r)
{
	auto_str pin = xasprintf(REFS_PINS "trash/%lld/tip", (long long)t->id);
	struct err ignored = ERR_INIT;
	char now[OID_SIZE], pinned[OID_SIZE];

	if (*r->tip && !ref_read(&l->repo, t->branch, now, &ignored) && !*now &&
		!ref_read(&l->repo, pin, pinned, &ignored) && !*pinned && ref_can_name(&l->repo, r->tip))
		report_missing(l, t, r->git_dir, r->tip);
}

/* What the project's tasks should have in this repository. */
static void look_for_owed(struct look *l)
{
	for (size_t i = 0; i < l->tasks->n; i++) {
		const struct task *t = &l->tasks->v[i];
		struct err ignored = ERR_INIT;
		auto_submodule_refs refs = { 0 };
		auto_submodules s = { 0 };
		auto_fd dir = -1;

		if (t->project_id != l->p->project.id)
			continue;
		if (t->removed) {
			submodule_refs_load_removed(l->c, t, &refs);
			for (size_t k = 0; k < refs.n; k++)
				if (!strcmp(refs.v[k].git_dir, l->repo.git_dir))
					look_for_pin(l, t, &refs.v[k]);
			continue;
		}
		if (!survey_rests(t) || home_task_dir(&l->c->home, t->id, &dir, &ignored) < 0 ||
			submodules_load(dir, &s, &ignored) < 0)
			continue;
		for (size_t k = 0; k < s.n; k++)
			if (submodule_is_here(&s.v[k]) && !strcmp(s.v[k].git_dir, l->repo.git_dir))
				look_for_branch(l, t, s.v[k].path, s.v[k].git_dir);
	}
}

static int look_at_project(
	struct survey *s, const struct survey_project *p, struct findings *out, struct err *e)
{
	auto_task_list tasks = { 0 };
	auto_lock lock = -1;

	/* refs_look reports a project that is busy */
	if (base_try_lock(&s->c->home, p->project.id, &lock, e) < 0)
		return e->kind == ERR_BUSY ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (store_task_list(s->c->store, true, &tasks, e) < 0)
		return -1;
	for (size_t i = 0; i < p->submodules.n; i++) {
		struct look l = { .c = s->c, .p = p, .tasks = &tasks, .out = out };
		struct err gone = ERR_INIT;
		int rc;

		if (survey_submodule(p, p->submodules.v[i], &l.repo, &gone) < 0)
			continue;
		rc = look_at_refs(&l, e);
		if (!rc)
			look_for_owed(&l);
		repo_release(&l.repo);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* The superproject has the submodules that are nested in it too. */
static bool has_superproject(const struct survey *s, const struct survey_project *p)
{
	for (size_t i = 0; i < s->n; i++)
		if (strvec_has(&s->v[i].submodules, p->repo.git_dir))
			return true;
	return false;
}

int submodules_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].open && s->v[i].submodules.n && !has_superproject(s, &s->v[i]) &&
			look_at_project(s, &s->v[i], out, e) < 0)
			return -1;
	return 0;
}
