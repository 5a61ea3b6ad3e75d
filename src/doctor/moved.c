/* Finds branches of tasks that are not where their gateway left them. */
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "doctor/parts.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/moved.h"

static const char *known_tip(const struct task *t)
{
	return *t->published ? t->published : t->base;
}

/* What was published becomes a snapshot; the task continues from where its branch is. */
static int mend(struct context *c, struct finding *f, struct err *e)
{
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_fd dir = -1;
	auto_lock lock = -1;
	auto_audit a = NULL;
	char now[OID_SIZE];
	int64_t bytes;
	bool ours;

	if (store_task_by_id(c->store, f->task, &t, e) < 0 || survey_repo(c, t.project_id, &r, e) < 0 ||
		home_task_dir(&c->home, t.id, &dir, e) < 0 || lock_take(dir, "lock", false, &lock, e) < 0 ||
		ref_read(&r, t.branch, now, e) < 0)
		return -1;
	if (!*now || !strcmp(now, known_tip(&t)))
		return 0;
	if (moved_by_garth(c, &t, now, &ours, &bytes, e) < 0 ||
		(!ours && moved_keep(c, &r, &t, dir, now, e) < 0) ||
		audit_open(c->home.fd, c->store, &a, e) < 0 ||
		audit_add(a, "found", &t, json_pack("{s:s, s:s}", "tip", now, "old", known_tip(&t)), e) < 0)
		return -1;
	return store_task_published(c->store, t.id, now, t.commits, t.bytes + bytes, e);
}

/* Reads files and runs no git. Tasks in use are skipped: their gateway handles it. */
static void look_at(
	struct survey *s, const struct survey_project *p, const struct task *t, struct findings *out)
{
	auto_fd dir = -1;
	struct err ignored = ERR_INIT;
	struct finding *f;
	char now[OID_SIZE];
	bool kept;

	if (t->removed || life_is_running(t) || !survey_rests(t) || t->project_id != p->project.id ||
		home_task_dir(&s->c->home, t->id, &dir, &ignored) < 0 || lock_is_held(dir, "lock") ||
		ref_read(&p->repo, t->branch, now, &ignored) < 0 || !*now || !strcmp(now, known_tip(t)))
		return;
	kept = !*t->published || !ref_can_name(&p->repo, t->published);
	f = finding_add(out, "branch-moved", t->name,
		"its branch is not where it was left: at %.12s, not %.12s", now, known_tip(t));
	f->task = t->id;
	finding_mend(f, mend,
		kept ? "take it as it is" : "keep what it published as a snapshot, and take it as it is");
}

int moved_look(struct survey *s, struct findings *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; s->v[i].open && j < s->tasks.n; j++)
			look_at(s, &s->v[i], &s->tasks.v[j], out);
	return 0;
}
