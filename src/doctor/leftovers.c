/* Finds what commands and keepers left when they died: scratch repositories, half-emptied trash, control
 * groups. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "doctor/parts.h"
#include "git/scratch.h"
#include "sys/cgroup.h"
#include "sys/fd.h"
#include "sys/tree.h"
#include "task/task.h"

/* A process that is working changes its directory more often than this. */
#define QUIET_SECONDS 60

static int sweep(struct context *c, struct finding *f, struct err *e)
{
	(void)f;
	return scratch_sweep(c->home.fd, true, NULL, e);
}

static int look_at_scratch(struct survey *s, struct findings *out, struct err *e)
{
	auto_strvec names = STRVEC_INIT;

	if (scratch_sweep(s->c->home.fd, false, &names, e) < 0)
		return -1;
	if (names.n)
		finding_mend(finding_add(out, "scratch", "scratch",
				     "%zu throw-away director%s of commands that died", names.n,
				     names.n == 1 ? "y" : "ies"),
			sweep, "remove %s", names.n == 1 ? "it" : "them");
	return 0;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static int empty(struct context *c, struct finding *f, struct err *e)
{
	return tree_remove(c->home.fd, f->path, e);
}

/* It was being removed, under a name that is never restored. */
static void look_at_trash(struct survey *s, const char *name, struct findings *out)
{
	auto_str path = xasprintf("trash/%s", name), full = home_path(&s->c->home, "trash/%s", name);
	struct finding *f;
	struct stat st;

	if ((!ends_in(name, ".gone") && !ends_in(name, ".empty")) ||
		fstatat(s->c->home.fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		st.st_mtime > time(NULL) - QUIET_SECONDS)
		return;
	f = finding_add(out, "trash-half", full, "was being removed, and that was cut short");
	f->path = steal_ptr(path);
	finding_mend(f, empty, "remove the rest of it");
}

static int drop_group(struct context *c, struct finding *f, struct err *e)
{
	struct task t = { .id = f->task };

	if (task_is_busy(c, &t))
		return err_set(e, ERR_BUSY, "the task is in use");
	return cgroup_drop(f->path) < 0 ? err_sys(e, "cannot remove it") : 0;
}

static bool has_processes(const char *dir)
{
	auto_str path = xasprintf("%s/cgroup.procs", dir);
	auto_buf pids = BUF_SMALL;
	struct err ignored = ERR_INIT;

	return !read_file(AT_FDCWD, path, &pids, &ignored) && pids.len;
}

/* A keeper holds its task's lock as long as it has a control group. */
static void look_at_group(struct survey *s, const char *dir, struct findings *out)
{
	struct task t = { .id = cgroup_task(dir) };
	auto_str quoted = finding_quoted(dir);
	struct finding *f;

	if (task_is_busy(s->c, &t) || access(dir, F_OK) < 0)
		return;
	f = finding_add(out, "cgroup", dir, "the control group of a keeper that is gone%s",
		has_processes(dir) ? "; processes are left in it" : "");
	f->task = t.id;
	f->path = xstrdup(dir);
	if (has_processes(dir))
		finding_hint(f, "cat %s/cgroup.procs", quoted);
	else
		finding_mend(f, drop_group, "remove it");
}

int leftovers_look(struct survey *s, struct findings *out, struct err *e)
{
	auto_strvec groups = STRVEC_INIT;

	if (look_at_scratch(s, out, e) < 0)
		return -1;
	for (size_t i = 0; i < s->trash.n; i++)
		look_at_trash(s, s->trash.v[i], out);
	cgroup_find(&cgroup_kernel, s->c->home.fd, &groups);
	for (size_t i = 0; i < groups.n; i++)
		look_at_group(s, groups.v[i], out);
	return 0;
}
