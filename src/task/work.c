#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/private.h"
#include "git/reach.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/task.h"
#include "workspace/review.h"

void task_work_release(struct task_work *w)
{
	strvec_release(&w->files);
}

/* The branch as it is and as the gateway left it: the user may have moved it. */
int task_work_branch(const struct repo *r, const struct task *t, struct task_work *ret, struct err *e)
{
	const char *published = *t->published ? t->published : t->base;
	auto_strvec tips = STRVEC_INIT;
	char target[65] = "";

	if (ref_read(r, t->branch, ret->tip, e) < 0)
		return -1;
	if (!*ret->tip)
		snprintf(ret->tip, sizeof(ret->tip), "%s", published);
	strvec_push(&tips, ret->tip);
	if (strcmp(ret->tip, published))
		strvec_push(&tips, published);
	else if (!strcmp(ret->tip, t->base) || !strcmp(t->state, STATE_MERGED))
		return 0;
	if (*t->target && ref_read(r, t->target, target, e) < 0)
		return -1;
	return reach_count(r, &tips, *target ? target : t->base, &ret->unmerged, e);
}

int task_work(struct task_at *a, struct task_work *ret, struct err *e)
{
	auto_fd git = open_beneath(a->ws.dir, "git", O_RDONLY | O_DIRECTORY, 0);
	auto_str pack = workspace_own_pack(&a->ws);

	*ret = (struct task_work){ 0 };
	if (task_work_branch(&a->repo, a->task, ret, e) < 0)
		return -1;
	if (git >= 0 && private_count_drafts(git, &a->repo, pack, &ret->drafts, e) < 0)
		return -1;
	return review_uncommitted(&a->ws, *a->task->published ? a->task->published : a->task->base,
		&ret->files, &ret->ignored, e);
}
