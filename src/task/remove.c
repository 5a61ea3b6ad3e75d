#include "task/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/ref.h"
#include "git/worktree.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/remove_later.h"
#include "sys/lock.h"
#include "sys/tree.h"
#include "task/archive.h"
#include "task/layers.h"
#include "task/life.h"
#include "task/refs.h"
#include "task/submodule_refs.h"
#include "task/task.h"
#include "workspace/submodules.h"
#include "workspace/base.h"

void discarded_release(struct discarded *d)
{
	free(d->tip);
	free(d->state);
	*d = (struct discarded){ 0 };
}

int discarded_read(const struct deed *d, struct discarded *ret, struct err *e)
{
	json_t *o = json_loads(d->data, 0, NULL);
	const char *tip, *state;
	int merged = false;
	int rc = json_unpack(o, "{s:s, s:s, s?b}", "tip", &tip, "state", &state, "merge", &merged);

	if (!rc)
		*ret = (struct discarded){ .tip = xstrdup(tip),
			.state = xstrdup(state),
			.archived = !strcmp(d->kind, "archive"),
			.merged = merged };
	json_decref(o);
	return rc < 0 ? err_set(e, ERR_FAILED, "cannot understand what the store says of the discard") : 0;
}

static bool is_there(const struct context *c, const char *place, int64_t id, const char *file)
{
	auto_str name = xasprintf("%s/%lld%s", place, (long long)id, file);

	return !faccessat(c->home.fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Whether the task's directory goes to the trash, and its branch's tip at the time of that decision. An
 * earlier version had no deeds; there the file `keep` decides. */
static int what_is_kept(
	struct context *c, const struct task *t, bool *ret_kept, struct discarded *ret, struct err *e)
{
	static const char *const kinds[] = { "discard", "archive" };

	*ret_kept = false;
	if (!strcmp(t->state, STATE_CREATING))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		auto_deed d = { 0 };

		if (!store_deed_of(c->store, t->id, kinds[i], &d, e)) {
			*ret_kept = true;
			return discarded_read(&d, ret, e);
		}
		if (e->kind != ERR_NOTFOUND)
			return -1;
	}
	*ret_kept = is_there(c, "tasks", t->id, "/keep") || is_there(c, "trash", t->id, "/keep");
	return 0;
}

static int mark_kept(struct context *c, const struct task *t, bool archived, struct err *e)
{
	auto_project p = { 0 };
	auto_fd dir = -1;

	if (is_there(c, "trash", t->id, "/keep"))
		return 0;
	if (store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (archived && write_file(dir, ARCHIVE_MARK, "", 0, 0600, e) < 0)
		return -1;
	return write_file(dir, "keep", p.git_dir, strlen(p.git_dir), 0600, e);
}

static int move_files(struct context *c, const struct task *t, bool kept, struct err *e)
{
	auto_str from = xasprintf("tasks/%lld", (long long)t->id);
	auto_str empty = xasprintf("trash/%lld.empty", (long long)t->id);
	auto_str to = xasprintf("trash/%lld", (long long)t->id);
	bool there = is_there(c, "trash", t->id, "/keep");

	/* overlayfs leaves a directory without permissions, which the user's rm could not remove */
	auto_str work = xasprintf("%s/work/work", from);
	fchmodat(c->home.fd, work, 0700, 0);
	/* if the files are in the trash already, this directory is an empty one made by task_open_again */
	if (renameat(c->home.fd, from, c->home.fd, kept && !there ? to : empty) < 0 && errno != ENOENT) {
		err_sys(e, "cannot move '%s' to the trash", from);
		/* the trash has an older directory of that name; if this one is empty, remove it */
		if (unlinkat(c->home.fd, from, AT_REMOVEDIR) < 0)
			return -1;
	}
	if (kept)
		utimensat(c->home.fd, to, NULL, AT_SYMLINK_NOFOLLOW);
	/* twice: a late process may have put a new lock file there */
	return later_remove(c->home.fd, empty, e) < 0 ? later_remove(c->home.fd, empty, e) : 0;
}

/* The bases of a task's submodules. */
static void add_submodules(struct context *c, int64_t task, struct strvec *used)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (!home_task_dir(&c->home, task, &dir, &ignored))
		submodules_bases(dir, used, &ignored);
}

int remove_bases(struct context *c, int64_t project, int64_t but, bool later, struct err *e)
{
	auto_task_list all = { 0 };
	auto_strvec used = STRVEC_INIT;
	auto_lock lock = -1;

	/* read the list under the lock that is held while bases are made */
	if (base_lock(&c->home, project, &lock, e) < 0 || store_task_list(c->store, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].project_id == project && *all.v[i].layer && all.v[i].id != but)
			strvec_push(&used, all.v[i].layer);
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].project_id == project && all.v[i].id != but)
			add_submodules(c, all.v[i].id, &used);
	return base_prune(&c->home, project, &used, later, e);
}

/* Removes objects that the gateway had not checked yet when it died. */
static int drop_quarantine(const struct repo *r, int64_t id, bool *ret_found, struct err *e)
{
	auto_str objects = path_join(r->git_dir, "objects"), name = xasprintf(TASK_QUARANTINE, (long long)id);
	auto_fd dir = open(objects, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return err_sys(e, "cannot open '%s'", objects);
	*ret_found = !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
	return tree_remove(dir, name, e);
}

/* The same in its submodules' repositories. */
static int drop_submodule_quarantines(struct task_at *at, bool *ret_found, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(at->ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		struct err ignored = ERR_INIT;
		auto_repo r = { 0 };
		bool found = false;

		if (submodule_is_here(&s.v[i]) && !submodule_repo(&at->ws, &s.v[i], &r, &ignored))
			drop_quarantine(&r, at->task->id, &found, &ignored);
		*ret_found |= found;
	}
	return 0;
}

int remove_leftovers(struct context *c, struct task *t, bool *ret_found, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_lock lock = -1;

	*ret_found = false;
	if (task_is_busy(c, t))
		return 0;
	if (task_open(c, t, &at, e) < 0 || lock_take(at.ws.dir, "lock", false, &lock, e) < 0)
		return e->kind == ERR_NOTFOUND || e->kind == ERR_BUSY ? 0 : -1;
	return drop_quarantine(&at.repo, t->id, ret_found, e) < 0
		       ? -1
		       : drop_submodule_quarantines(&at, ret_found, e);
}

/* The same for its submodules' repositories. */
static int leave_submodules(struct task_at *at, struct err *e)
{
	auto_submodule_refs refs = { 0 };
	bool found;

	if (submodule_refs_load(at->ws.dir, &refs, e) < 0 || submodule_refs_drop(at->task, &refs, e) < 0)
		return -1;
	return drop_submodule_quarantines(at, &found, e);
}

static int leave_repository(struct context *c, struct task *t, bool kept, const char *tip, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	bool found, stays;

	/* if the repository is gone, there is nothing to remove from it */
	if (task_open_again(c, t, &at, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (workspace_remove(&at.ws, e) < 0)
		return -1;
	fault("discard-workspace");
	if (refs_drop(c, &at.repo, t, tip, kept, &stays, e) < 0 ||
		(stays && kept && write_file(at.ws.dir, REMOVE_BRANCH_KEPT, "", 0, 0600, e) < 0))
		return -1;
	fault("discard-branch");
	return leave_submodules(&at, e) < 0 ? -1 : drop_quarantine(&at.repo, t->id, &found, e);
}

char *task_branch_kept_by(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_project p = { 0 };
	auto_repo r = { 0 };
	char *top = NULL, now[OID_SIZE];

	if (store_project_by_id(c->store, t->project_id, &p, &ignored) < 0 ||
		repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, &r, &ignored) < 0 ||
		ref_read(&r, t->branch, now, &ignored) < 0 || !*now ||
		worktree_with_branch(&r, t->branch, &top, &ignored) < 0)
		return NULL;
	return top;
}

/* The final state, for the list of removed tasks. */
static const char *last_state(const struct discarded *d)
{
	if (d->archived)
		return STATE_ARCHIVED;
	return d->state && !strcmp(d->state, STATE_MERGED) ? STATE_MERGED : STATE_DISCARDED;
}

int remove_finish(struct context *c, struct task *t, struct err *e)
{
	bool half_made = !strcmp(t->state, STATE_CREATING), kept;
	auto_discarded d = { 0 };
	struct err ignored = ERR_INIT;

	if (what_is_kept(c, t, &kept, &d, e) < 0 || (kept && mark_kept(c, t, d.archived, e) < 0))
		return -1;
	if (leave_repository(c, t, kept, d.tip ? d.tip : t->base, e) < 0) {
		auto_str made = xasprintf("tasks/%lld", (long long)t->id);

		/* remove the empty directory that task_open_again made */
		unlinkat(c->home.fd, made, AT_REMOVEDIR);
		return -1;
	}
	fault("discard-refs");
	if (move_files(c, t, kept, e) < 0)
		return -1;
	fault("discard-moved");
	if ((half_made ? store_task_forget(c->store, t->id, e)
		       : store_task_remove(c->store, t->id, last_state(&d), e)) < 0)
		return -1;
	/* failing to remove unused bases is no failure: it only costs space */
	remove_bases(c, t->project_id, t->id, true, &ignored);
	layers_remove_unused(c, t->project_id, false, true, &ignored);
	return 0;
}

/* After a crash it is half of a task: whoever looks at it removes the rest. Its commands have changed its state. */
static int mark_half(struct context *c, const struct task *t, struct err *e)
{
	auto_task now = { 0 };

	if (store_task_by_id(c->store, t->id, &now, e) < 0)
		return -1;
	if (strcmp(now.state, STATE_CREATING) &&
		store_task_move(c->store, t->id, now.state, STATE_CREATING, e) < 0)
		return -1;
	fault("drop-marked");
	return 0;
}

int remove_for_good(struct context *c, struct task *t, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_submodule_refs refs = { 0 };
	char tip[OID_SIZE];

	if (task_open_again(c, t, &at, e) < 0 || ref_read(&at.repo, t->branch, tip, e) < 0 ||
		submodule_refs_find(c, &at, &refs, e) < 0 || submodule_refs_save(at.ws.dir, &refs, e) < 0)
		return -1;
	task_at_close(&at);
	if (mark_half(c, t, e) < 0)
		return -1;
	if (leave_repository(c, t, false, tip, e) < 0 || move_files(c, t, false, e) < 0)
		return -1;
	fault("drop-moved");
	submodule_refs_forget(t->id, &refs);
	return store_task_forget(c->store, t->id, e);
}

static void forget_submodules(int trash, const char *name, int64_t id)
{
	auto_fd dir = openat(trash, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_submodule_refs refs = { 0 };
	struct err ignored = ERR_INIT;

	if (dir >= 0 && !submodule_refs_load(dir, &refs, &ignored))
		submodule_refs_forget(id, &refs);
}

/* Removes the pins of a task that leaves the trash, unless it is archived and still needs them. A missing
 * repository has none. */
static void unpin(const struct context *c, int trash, const char *name)
{
	auto_str keep = path_join(name, "keep"), found = xstrndup(name, strcspn(name, "."));
	auto_buf git_dir = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char *end;
	int64_t id = strtoll(name, &end, 10);

	if (read_file(trash, keep, &git_dir, &ignored) < 0 || !git_dir.len)
		return;
	if (!strncmp(name, REMOVE_FOUND, strlen(REMOVE_FOUND)))
		refs_forget_found(&(struct repo){ .git_dir = git_dir.data }, found, &ignored);
	else if (end != name && !archive_holds(c, id)) {
		refs_forget(&(struct repo){ .git_dir = git_dir.data }, id, &ignored);
		forget_submodules(trash, name, id);
	}
}

/* Whether the directory was being removed when a process was killed: it cannot be restored. */
static bool is_given_up(const char *name)
{
	const char *rest = name + strspn(name, "0123456789");

	return rest > name && (!strcmp(rest, ".gone") || !strcmp(rest, ".empty"));
}

/* What `garth doctor` found never expires: nobody knows what it is, and it may be the only copy of
 * something. */
static bool is_old(int trash, const char *name, int64_t seconds)
{
	struct stat st;

	if (is_given_up(name))
		return true;
	if (seconds && !strncmp(name, REMOVE_FOUND, strlen(REMOVE_FOUND)) && !strchr(name, '.'))
		return false;
	return !fstatat(trash, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_mtime <= time(NULL) - seconds;
}

/* Under its lock, renames a task's directory to a name that is never restored: nobody finds half of it. */
static bool give_up(int trash, const char *name, int64_t seconds, char **ret_name)
{
	auto_fd dir = openat(trash, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_str gone = strchr(name, '.') ? xstrdup(name) : xasprintf("%s.gone", name);
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;

	if (dir >= 0 && lock_take(dir, "lock", false, &lock, &ignored) < 0)
		return false;
	if (!is_old(trash, name, seconds) || (strcmp(name, gone) && renameat(trash, name, trash, gone) < 0))
		return false;
	*ret_name = steal_ptr(gone);
	return true;
}

int remove_trash(struct context *c, int64_t seconds, bool later, size_t *ret, struct err *e)
{
	auto_fd trash = openat(c->home.fd, "trash", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int copy = trash < 0 ? -1 : dup(trash);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return err_sys(e, "cannot read the trash");
	while (!rc && (ent = readdir(d))) {
		auto_str name = NULL;

		if (ent->d_name[0] == '.' || !is_old(trash, ent->d_name, seconds) ||
			(!is_given_up(ent->d_name) && archive_waits(trash, ent->d_name)) ||
			!give_up(trash, ent->d_name, seconds, &name))
			continue;
		unpin(c, trash, name);
		fault("trash-unpinned");
		rc = (later ? later_remove : tree_remove)(trash, name, e);
		*ret += !rc;
	}
	closedir(d);
	return rc;
}
