#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/drafts.h"
#include "git/reach.h"
#include "git/ref.h"
#include "git/run.h"
#include "sys/fd.h"
#include "task/merged.h"
#include "task/submodule_refs.h"
#include "task/task.h"
#include "workspace/review.h"
#include "workspace/submodules.h"

void task_work_release(struct task_work *w)
{
	strvec_release(&w->files);
}

/* Commits that a rollback removed from the branch, or that the user wanted to keep. Tips that the agent
 * rewrote do not count: the trash has them. */
static int add_snapshots(
	struct context *c, const struct repo *r, const struct task *t, struct strvec *tips, struct err *e)
{
	auto_snapshot_list l = { 0 };

	if (store_snapshot_list(c->store, t->id, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++)
		if ((!strcmp(l.v[i].reason, "asked") || !strcmp(l.v[i].reason, "rollback")) &&
			strcmp(l.v[i].commit, t->base) && !strvec_has(tips, l.v[i].commit) &&
			ref_can_name(r, l.v[i].commit))
			strvec_push(tips, l.v[i].commit);
	return 0;
}

/* Commits that are not the task's alone: those of its target, and those that were squashed or rebased into
 * it. */
static int has_already(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const char *published, struct strvec *ret, struct err *e)
{
	auto_strvec targets = STRVEC_INIT;

	if (merged_targets(c, r, t, &targets, e) < 0)
		return -1;
	for (size_t i = 0; i < targets.n; i++)
		strvec_push(ret, targets.v[i]);
	if (merged_elsewhere(c, r, t, tip, &targets))
		strvec_push(ret, tip);
	if (strcmp(tip, published) && merged_elsewhere(c, r, t, published, &targets))
		strvec_push(ret, published);
	if (!ret->n)
		strvec_push(ret, t->base);
	return 0;
}

/* Checks both the branch as it is and as the gateway left it: the user may have moved it. */
int task_work_branch(
	struct context *c, const struct repo *r, const struct task *t, struct task_work *ret, struct err *e)
{
	const char *published = *t->published ? t->published : t->base;
	auto_strvec tips = STRVEC_INIT, has = STRVEC_INIT;

	if (ref_read(r, t->branch, ret->tip, e) < 0)
		return -1;
	if (!*ret->tip)
		snprintf(ret->tip, sizeof(ret->tip), "%s", published);
	if (strcmp(ret->tip, published)) {
		strvec_push(&tips, ret->tip);
		strvec_push(&tips, published);
	} else if (strcmp(ret->tip, t->base)) {
		strvec_push(&tips, ret->tip);
	}
	if (add_snapshots(c, r, t, &tips, e) < 0)
		return -1;
	if (!tips.n)
		return 0;
	if (has_already(c, r, t, ret->tip, published, &has, e) < 0 ||
		reach_count(r, &tips, &has, &ret->unmerged, e) < 0)
		return -1;
	ret->merged = !ret->unmerged && strcmp(ret->tip, t->base) != 0;
	return 0;
}

/* Commits that were published from a submodule and that neither one of its other branches nor the target's own
 * gitlink has. */
static int count_published(struct context *c, struct task_at *a, const struct submodules *s, size_t n,
	const struct repo *r, size_t *ret, struct err *e)
{
	auto_strvec tips = STRVEC_INIT, has = STRVEC_INIT;
	struct submodule_row row;
	char tip[OID_SIZE], named[OID_SIZE];
	size_t more = 0;

	if (store_submodule(c->store, a->task->id, s->v[n].path, &row, e) < 0 ||
		ref_read(r, a->task->branch, tip, e) < 0)
		return -1;
	if (!*row.published || !*tip || ref_is_reached(r, tip))
		return 0;
	named[0] = '\0';
	if (*a->task->target)
		submodule_refs_named(&a->ws, s, n, a->task->target, named);
	strvec_push(&tips, tip);
	strvec_push(&has, s->v[n].commit);
	if (*named && ref_can_name(r, named))
		strvec_push(&has, named);
	if (reach_count(r, &tips, &has, &more, e) < 0)
		return -1;
	*ret += more;
	return 0;
}

/* Commits in submodules: drafts, which are in no other repository, and published ones that are not merged. */
static int count_submodules(struct context *c, struct task_at *a, struct task_work *ret, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(a->ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_str path = xasprintf("sub/%zu/git", i);
		auto_fd git = open_beneath(a->ws.dir, path, O_RDONLY | O_DIRECTORY, 0);
		auto_repo r = { 0 };
		size_t n = 0;

		if (!submodule_is_here(&s.v[i]) || git < 0)
			continue;
		if (submodule_repo(&a->ws, &s.v[i], &r, e) < 0 || drafts_count_named(git, &r, &n, e) < 0 ||
			count_published(c, a, &s, i, &r, &ret->unmerged, e) < 0)
			return -1;
		ret->drafts += n;
	}
	return 0;
}

int task_work(struct context *c, struct task_at *a, struct task_work *ret, struct err *e)
{
	auto_fd git = open_beneath(a->ws.dir, "git", O_RDONLY | O_DIRECTORY, 0);
	auto_str pack = workspace_own_pack(&a->ws);
	auto_buf alternates = BUF_INIT(1 << 20);
	struct drafts_start start;

	workspace_alternates(&a->ws, &alternates);
	start = (struct drafts_start){ pack, buf_str(&alternates) };
	*ret = (struct task_work){ 0 };
	if (task_work_branch(c, &a->repo, a->task, ret, e) < 0)
		return -1;
	/* if it is merged, objects that only git add made do not count */
	if (git >= 0 && (ret->merged ? drafts_count_named(git, &a->repo, &ret->drafts, e)
				     : drafts_count(git, &a->repo, &start, &ret->drafts, e)) < 0)
		return -1;
	if (count_submodules(c, a, ret, e) < 0)
		return -1;
	return review_uncommitted(&a->ws, *a->task->published ? a->task->published : a->task->base,
		&ret->files, &ret->ignored, e);
}
