#include "runtime/with_changes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/uncommitted.h"
#include "runtime/add_layers.h"
#include "runtime/choose_network.h"
#include "runtime/run.h"
#include "sys/fd.h"
#include "task/task.h"
#include "workspace/workspace.h"

#define PATCH "garth-changes"

/* Writes to the task's temporary directory. No process has run inside yet, so the directory can be
 * trusted. */
static int write_patch(struct context *c, const struct task *t, const char *dir, bool *ret_any, struct err *e)
{
	auto_str index = home_path(&c->home, "tasks/%lld/changes-index", (long long)t->id),
		 lock = xasprintf("%s.lock", index);
	auto_fd task = -1, tmp = -1, file = -1;
	auto_strvec never = STRVEC_INIT;
	struct stat st = { 0 };
	int rc;

	if (home_task_dir(&c->home, t->id, &task, e) < 0)
		return -1;
	tmp = open_beneath(task, "tmp", O_RDONLY | O_DIRECTORY, 0);
	file = tmp < 0 ? -1 : openat(tmp, PATCH, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (file < 0 || fchmod(file, 0644) < 0)
		return err_sys(e, "cannot write the checkout's changes down");
	add_layers_never(c, &never);
	rc = uncommitted_patch(dir, index, &never, file, e);
	unlink(index);
	unlink(lock);
	if (!rc && fstat(file, &st) < 0)
		return err_sys(e, "cannot write the checkout's changes down");
	*ret_any = st.st_size > 0;
	return rc;
}

/* By now the agent may have changed the directory. */
static void remove_patch(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_fd task = -1, tmp = -1;

	if (home_task_dir(&c->home, t->id, &task, &ignored) < 0)
		return;
	tmp = open_beneath(task, "tmp", O_RDONLY | O_DIRECTORY, 0);
	if (tmp >= 0)
		unlinkat(tmp, PATCH, 0);
}

static int apply_inside(struct context *c, struct task *t, struct err *e)
{
	auto_str patch = backend_of(t)->landlock_only
				 ? home_path(&c->home, "tasks/%lld/tmp/" PATCH, (long long)t->id)
				 : xstrdup("/tmp/" PATCH);
	char *argv[] = { "/usr/bin/git", "apply", "--whitespace=nowarn", patch, NULL };
	auto_strvec env = STRVEC_INIT;
	struct run_opts o = { .env = &env };
	int rc, code;

	/* the hook must not ask the gateway about this */
	strvec_push(&env, "GARTH_GATEWAY=1");
	if (runtime_network(c, t, "none", NULL, &o, e) < 0)
		return -1;
	rc = runtime_wait(c, t, &o, argv, &code, e);
	network_release(&o.net);
	if (rc < 0 || !code)
		return rc;
	return err_set(e, ERR_CONFLICT,
		"the checkout's uncommitted changes do not fit the commit %.12s that the task starts from",
		t->base);
}

int with_changes_copy(struct context *c, struct task *t, const char *dir, struct err *e)
{
	bool any = false;
	int rc;

	if (write_patch(c, t, dir, &any, e) < 0)
		return -1;
	rc = any ? apply_inside(c, t, e) : 0;
	remove_patch(c, t);
	return rc;
}

void with_changes_drop(struct context *c, const struct task *t)
{
	const struct discard_opts all = { .files = true, .drafts = true };
	struct err ignored = ERR_INIT;
	auto_str trash = NULL;
	auto_task now = { 0 };

	if (!task_find_id(c, t->id, &now, &ignored))
		task_discard(c, &now, &all, &trash, &ignored);
}
