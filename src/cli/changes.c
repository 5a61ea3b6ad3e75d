#include "cli/changes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/strvec.h"
#include "cli/say.h"
#include "cli/session.h"
#include "git/pending.h"
#include "sys/fd.h"
#include "workspace/workspace.h"

#define NAMES_SHOWN 3
#define PATCH       "garth-changes"

void changes_tell(const struct task *t, const char *dir)
{
	auto_buf names = BUF_SMALL, clean = BUF_SMALL;
	auto_strvec paths = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (!backend_of(t)->has_git || pending_list(dir, &paths, &ignored) < 0 || !paths.n)
		return;
	for (size_t i = 0; i < paths.n && i < NAMES_SHOWN; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", paths.v[i]);
	if (paths.n > NAMES_SHOWN)
		buf_printf(&names, " and %zu more", paths.n - NAMES_SHOWN);
	say_state(
		"%zu uncommitted change%s of the checkout %s not in the task: %s (--with-changes takes %s along)",
		paths.n, paths.n == 1 ? "" : "s", paths.n == 1 ? "is" : "are",
		say_one_line(&clean, buf_str(&names)), paths.n == 1 ? "it" : "them");
}

/* In the task's own temporary directory, in which nobody was before. *ret_size: 0 where nothing has changed. */
static int write_patch(
	struct context *c, const struct task *t, const char *dir, int tmp, off_t *ret_size, struct err *e)
{
	auto_str index = home_path(&c->home, "tasks/%lld/changes-index", (long long)t->id),
		 lock = xasprintf("%s.lock", index);
	auto_fd file = openat(tmp, PATCH, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct stat st;
	int rc;

	if (file < 0 || fchmod(file, 0644) < 0)
		return err_sys(e, "cannot write the checkout's changes down");
	rc = pending_patch(dir, index, file, e);
	unlink(index);
	unlink(lock);
	if (rc < 0)
		return -1;
	if (fstat(file, &st) < 0)
		return err_sys(e, "cannot write the checkout's changes down");
	*ret_size = st.st_size;
	return 0;
}

static int apply_inside(struct context *c, struct task *t, struct err *e)
{
	auto_str tmp = backend_of(t)->landlock_only ? home_path(&c->home, "tasks/%lld/tmp", (long long)t->id)
						    : xstrdup("/tmp");
	auto_str patch = path_join(tmp, PATCH);
	char *argv[] = { "/usr/bin/git", "apply", "--whitespace=nowarn", patch, NULL };
	auto_strvec env = STRVEC_INIT;
	struct terminal_result result = { .end = TERMINAL_EXIT };
	struct session_opts o = { .env = &env, .silent = true };
	int rc;

	strvec_push(&env, "GARTH_GATEWAY=1");
	if (session_network(c, t, "none", NULL, &o, e) < 0)
		return -1;
	rc = session_exec(c, t, &o, argv, &result, e);
	network_release(&o.net);
	if (rc < 0 || !result.exit_code)
		return rc;
	return err_set(e, ERR_CONFLICT,
		"the checkout's uncommitted changes do not fit the commit %.12s that the task starts from",
		t->base);
}

int changes_carry(struct context *c, struct task *t, const char *dir, struct err *e)
{
	auto_fd task = -1, tmp = -1;
	off_t size = 0;
	int rc;

	if (home_task_dir(&c->home, t->id, &task, e) < 0)
		return -1;
	tmp = open_beneath(task, "tmp", O_RDONLY | O_DIRECTORY, 0);
	rc = write_patch(c, t, dir, tmp, &size, e);
	if (!rc && size)
		rc = apply_inside(c, t, e);
	unlinkat(tmp, PATCH, 0);
	return rc;
}

void changes_drop(struct context *c, const struct task *t)
{
	const struct discard_opts all = { .files = true, .drafts = true };
	struct err ignored = ERR_INIT;
	auto_str trash = NULL;
	auto_task now = { 0 };

	if (!task_find(c, t->name, &now, &ignored) && now.id == t->id)
		task_discard(c, &now, &all, &trash, &ignored);
}
