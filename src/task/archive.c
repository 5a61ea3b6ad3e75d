#include "task/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/path.h"
#include "base/strvec.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/remove_later.h"
#include "sys/lock.h"
#include "sys/proc.h"
#include "sys/tree.h"
#include "task/planned.h"
#include "task/submodule_refs.h"
#include "task/tickets.h"
#include "task/task.h"
#include "task/undo.h"

#define PART "garth-archive"

/* Large tasks take hours. */
#define SECONDS (6 * 3600)

static int run(const char *verb, const char *from, const char *to, struct err *e)
{
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	struct proc_spec p = { .seconds = SECONDS };
	auto_buf errtext = BUF_SMALL;
	auto_str program = NULL;
	int status;

	if (proc_find_part(PART, &program, e) < 0)
		return -1;
	strvec_pushl(&argv, program, verb, from, to, NULL);
	strvec_pushl(&env, "PATH=" PROC_PATH, NULL);
	p.argv = argv.v;
	p.env = env.v;
	if (proc_run(&p, NULL, NULL, &errtext, &status, e) < 0)
		return -1;
	if (!proc_exit_code(status))
		return 0;
	return err_set(e, ERR_FAILED, "%.*s", (int)strcspn(buf_str(&errtext), "\n"),
		errtext.len ? errtext.data : PART " ended without a word");
}

static char *name_of(const struct task *t)
{
	return xasprintf("archives/%s.%lld.tar.gz", t->name, (long long)t->id);
}

bool archive_is_there(const struct context *c, const struct task *t)
{
	auto_str name = name_of(t);

	return !faccessat(c->home.fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool archive_holds(const struct context *c, int64_t id)
{
	auto_str end = xasprintf(".%lld.tar.gz", (long long)id);
	int fd = openat(c->home.fd, "archives", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	bool found = false;

	if (!d)
		return fd_closep(&fd), false;
	while (!found && (ent = readdir(d))) {
		size_t n = strlen(ent->d_name), m = strlen(end);

		found = n > m && !strcmp(ent->d_name + n - m, end);
	}
	closedir(d);
	return found;
}

bool archive_waits(int trash, const char *name)
{
	auto_str mark = path_join(name, ARCHIVE_MARK);

	return !faccessat(trash, mark, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* The directory is renamed before it is removed, so that nobody restores half of it. */
static int drop_directory(struct context *c, const struct task *t, struct err *e)
{
	auto_str from = xasprintf("trash/%lld", (long long)t->id),
		 to = xasprintf("trash/%lld.gone", (long long)t->id);

	if (renameat(c->home.fd, from, c->home.fd, to) < 0)
		return err_sys(e, "cannot remove '%s'", from);
	return later_remove(c->home.fd, to, e);
}

/* The caller holds the directory's lock. */
static int pack(struct context *c, const struct task *t, char **ret, struct err *e)
{
	auto_str name = name_of(t), part = xasprintf("%s.part", name);
	auto_str dir = home_path(&c->home, "trash/%lld", (long long)t->id),
		 file = path_join(c->home.path, part);

	if (mkdirat(c->home.fd, "archives", 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '%s/archives'", c->home.path);
	unlinkat(c->home.fd, part, 0);
	if (run("pack", dir, file, e) < 0)
		return -1;
	fault("archive-packed");
	if (renameat(c->home.fd, part, c->home.fd, name) < 0)
		return err_sys(e, "cannot put '%s' in place", name);
	*ret = path_join(c->home.path, name);
	return drop_directory(c, t, e);
}

static int lock_and_pack(struct context *c, const struct task *t, char **ret, struct err *e)
{
	auto_str name = xasprintf("trash/%lld", (long long)t->id);
	auto_fd dir = openat(c->home.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_lock lock = -1;

	if (dir < 0)
		return err_sys(e, "cannot open '%s'", name);
	return lock_take(dir, "lock", false, &lock, e) < 0 ? -1 : pack(c, t, ret, e);
}

static void record_failure(struct context *c, const struct task *t, const struct err *why)
{
	struct err ignored = ERR_INIT;
	auto_audit a = NULL;

	if (!audit_open(c->home.fd, c->store, &a, &ignored))
		audit_add(
			a, "archive-failed", t, json_pack("{s:o}", "error", audit_text(why->msg)), &ignored);
}

/* If packing fails, the task is restored; if that fails too, it stays in the trash. */
static int put_back(struct context *c, const struct task *t, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_deed d = { 0 };

	record_failure(c, t, e);
	if (!store_deed_of(c->store, t->id, "archive", &d, &ignored) && !task_undo_discard(c, &d, &ignored))
		return err_wrap(e, "task '%s' cannot be packed, and is where it was", t->name);
	return err_wrap(e, "task '%s' is in the trash, and not packed", t->name),
	       err_hint(e, "garth undo %s", t->name);
}

int task_archive(struct context *c, struct task *t, struct submodule_refs *refs, char **ret, struct err *e)
{
	const struct discard_opts all = { .files = true, .drafts = true, .archive = true };
	auto_str trash = NULL;
	struct err ignored = ERR_INIT;
	bool tickets = tickets_had(c, t);
	size_t packed;

	if (planned_refuse(c, t, true, e) < 0 || task_discard(c, t, &all, &trash, e) < 0)
		return -1;
	fault("archive-trash");
	submodule_refs_load_removed(c, t, refs);
	/* what is not packed now stays in the trash until it is */
	if (tickets)
		archive_settle(c, &packed, &ignored);
	if (lock_and_pack(c, t, ret, e) < 0) {
		auto_str name = name_of(t);

		/* a clean-up may have packed it meanwhile */
		if (e->sys == ENOENT && archive_is_there(c, t))
			return *ret = path_join(c->home.path, name), 0;
		return put_back(c, t, e);
	}
	return 0;
}

int archive_settle(struct context *c, size_t *ret, struct err *e)
{
	auto_fd trash = openat(c->home.fd, "trash", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int copy = trash < 0 ? -1 : dup(trash);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	if (!d)
		return err_sys(e, "cannot read the trash");
	while ((ent = readdir(d))) {
		struct err ignored = ERR_INIT;
		auto_str path = NULL;
		auto_task t = { 0 };
		char *end;
		int64_t id = strtoll(ent->d_name, &end, 10);

		/* a task that cannot be packed stays in the trash */
		if (end != ent->d_name && !*end && archive_waits(trash, ent->d_name) &&
			!store_task_any(c->store, id, &t, &ignored) && t.removed &&
			!lock_and_pack(c, &t, &path, &ignored))
			++*ret;
	}
	closedir(d);
	return 0;
}

/* Unpacks in scratch/, which is cleaned up after a crash, so that the trash never has half a task. */
static int unpack(struct context *c, const struct task *t, int dir, const char *dir_path, struct err *e)
{
	auto_str name = name_of(t), file = path_join(c->home.path, name), to = path_join(dir_path, "task");

	if (tree_remove(dir, "task", e) < 0)
		return -1;
	/* the mode of a task's directory */
	if (mkdirat(dir, "task", 0711) < 0 || fchmodat(dir, "task", 0711, 0) < 0)
		return err_sys(e, "cannot make '%s'", to);
	if (run("unpack", file, to, e) < 0)
		return err_wrap(e, "cannot bring task '%s' back", t->name);
	return 0;
}

int archive_open(struct context *c, const struct task *t, int *ret_lock, struct err *e)
{
	auto_str to = xasprintf("trash/%lld", (long long)t->id),
		 part = xasprintf("scratch/unpacked-%lld", (long long)t->id),
		 path = path_join(c->home.path, part);
	struct err ignored = ERR_INIT;
	auto_fd dir = -1, task = -1;
	auto_lock held = -1;

	if (!faccessat(c->home.fd, to, F_OK, AT_SYMLINK_NOFOLLOW) || !archive_is_there(c, t))
		return 0;
	dir = mkdirs_beneath(c->home.fd, part, 0700, (uid_t)-1, (gid_t)-1);
	if (dir < 0)
		return err_sys(e, "cannot make '%s'", path);
	if (lock_take(dir, "lock", false, &held, e) < 0 || unpack(c, t, dir, path, e) < 0)
		return -1;
	fault("archive-unpacked");
	task = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (task < 0)
		return err_sys(e, "cannot open '%s/task'", path);
	/* take the lock before the task appears in the trash */
	if (lock_take(task, "lock", false, ret_lock, e) < 0)
		return -1;
	if (renameat(dir, "task", c->home.fd, to) < 0)
		return err_sys(e, "cannot put '%s' in place", to);
	tree_remove(c->home.fd, part, &ignored);
	return 0;
}

void archive_forget(struct context *c, const struct task *t, int dir)
{
	auto_str name = name_of(t), part = xasprintf("%s.part", name);

	unlinkat(dir, ARCHIVE_MARK, 0);
	unlinkat(c->home.fd, name, 0);
	unlinkat(c->home.fd, part, 0);
}
