#include "runtime/left_behind.h"

#include "base/alloc.h"
#include "git/uncommitted.h"
#include "sys/fd.h"
#include "workspace/workspace.h"

static int find(void *arg, struct err *e)
{
	struct left_behind *w = arg;

	return uncommitted_find(w->dir, w->repo, w->answer, e);
}

static void start(const struct repo *r, void *arg)
{
	struct left_behind *w = arg;
	struct err ignored = ERR_INIT;

	w->answer = fd_of_bytes("changes", "", 0);
	w->repo = r;
	if (w->answer >= 0)
		worker_start(&w->git, find, w, &ignored);
	w->repo = NULL;
}

void left_behind_watch(struct left_behind *w, struct task_spec *spec)
{
	w->dir = spec->dir;
	spec->on_checked = start;
	spec->on_checked_arg = w;
}

void left_behind_release(struct left_behind *w)
{
	worker_release(&w->git);
	fd_closep(&w->answer);
}

void left_behind_read(
	struct left_behind *w, const struct task *t, const struct strvec *included, struct strvec *ret)
{
	auto_strvec all = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (!backend_of(t)->has_git || !w->git.pid || worker_wait(&w->git, &ignored) < 0 ||
		uncommitted_read(w->answer, &all, &ignored) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (!strvec_has(included, all.v[i]))
			strvec_push(ret, all.v[i]);
}
