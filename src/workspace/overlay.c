#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/private.h"
#include "git/untracked.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "workspace/base.h"
#include "workspace/export.h"
#include "workspace/layer_use.h"
#include "workspace/scan.h"
#include "workspace/submodules.h"
#include "workspace/workspace.h"

static int make_layers(int dir, struct err *e)
{
	static const char *const layers[] = { "upper", "work" };

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		if ((mkdirat(dir, layers[i], 0755) < 0 && errno != EEXIST) ||
			fchmodat(dir, layers[i], 0755, 0) < 0 || owner_give(dir, layers[i]) < 0)
			return err_sys(e, "cannot make '%s' of the task", layers[i]);
	return 0;
}

/* Writes the base's index, bound to the workspace's path if that is not the project's. */
static int put_bound(const struct workspace *ws, const struct base *base, int to, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30), out = BUF_INIT(1u << 30);

	if (read_file(AT_FDCWD, base->index, &index, e) < 0 ||
		untracked_retarget(index.data, index.len, ws->repo->hash_len, ws->task->workspace, &out, e) <
			0)
		return -1;
	return write_full(to, buf_str(&out), out.len) < 0 ? err_sys(e, "cannot write the task's index") : 0;
}

static int give_index(int fd, struct err *e)
{
	return owner_give(fd, "") < 0 ? err_sys(e, "cannot give the task its index") : 0;
}

static int put_index(struct workspace *ws, const struct base *base, struct err *e)
{
	auto_fd from = open(base->index, O_RDONLY | O_CLOEXEC),
		git = open_beneath(ws->dir, "git", O_RDONLY | O_DIRECTORY, 0);
	auto_fd to =
		git < 0 ? -1
			: openat(git, "index", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	bool fits = base->bound && (!*base->bound || !strcmp(base->bound, ws->task->workspace));
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) < 0)
		return err_sys(e, "cannot make the task's index");
	if (!fits)
		return put_bound(ws, base, to, e) < 0 ? -1 : give_index(to, e);
	if (copy_part(from, to, (uint64_t)st.st_size) < 0)
		return err_sys(e, "cannot write the task's index");
	return give_index(to, e);
}

static int overlay_create(struct workspace *ws, const struct buf *shown, struct err *e)
{
	struct private_spec s = { .branch = ws->task->branch, .shown = shown };
	auto_base base = { 0 };

	if (base_get(ws->home, ws->task->project_id, ws->repo, &base, e) < 0)
		return -1;
	if (base_is_monitored(&base))
		s.fsmonitor = INSIDE_FSMONITOR;
	fault("create-base");
	if (make_layers(ws->dir, e) < 0 || workspace_make_private(ws, &s, e) < 0)
		return -1;
	fault("create-index");
	return put_index(ws, &base, e);
}

/* Opens the base; makes it again if it is gone or was not synced before a crash. */
static int get_base(struct workspace *ws, struct base *ret, struct err *e)
{
	struct repo at = *ws->repo;

	if (!base_open(ws->home, ws->task->project_id, ws->task->layer, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND)
		return -1;
	at.commit = ws->task->layer;
	return base_get(ws->home, ws->task->project_id, &at, ret, e);
}

/* Shows the layers, from which a rollback restores their files, and tells the monitor which paths they add to the
 * base. */
static int show_brought(const struct workspace *ws, const struct layers *l, struct jail *j, struct err *e)
{
	auto_str path = home_path(ws->home, "tasks/%lld/brought-paths", (long long)ws->task->id);
	auto_buf list = BUF_INIT(64u << 20);

	for (size_t i = 0; i < l->n; i++) {
		auto_str at = xasprintf(INSIDE_LAYERS "/%zu", i);

		jail_add(j, JAIL_BIND, JAIL_NOEXEC, l->v[i].path, at);
	}
	layers_report(l, &list);
	if (list.overflow)
		return err_set(e, ERR_FAILED, "the task's layers have too many paths");
	if (!list.len)
		return 0;
	if (write_file(ws->dir, "brought-paths", list.data, list.len, 0644, e) < 0)
		return -1;
	jail_add(j, JAIL_BIND, JAIL_NOEXEC, path, INSIDE_BROUGHT);
	return 0;
}

static int overlay_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	const char *at = ws->task->workspace;
	auto_str dot_git = xasprintf("%s/.git", at), monitor = NULL;
	auto_base base = { 0 };
	auto_layers layers = { 0 };

	if (get_base(ws, &base, e) < 0 || layers_open(ws, &layers, e) < 0 ||
		proc_find_part(BASE_FSMONITOR_PART, &monitor, e) < 0)
		return -1;
	/* the topmost lower layer has the mount point for .git, so the upper one need not have it */
	auto_str stubs = home_path(ws->home, "stubs");
	if (ws->backend->has_git)
		strvec_push(&j->lowers, stubs);
	for (size_t i = 0; i < layers.n; i++)
		strvec_push(&j->lowers, layers.v[i].path);
	for (size_t i = 0; i < base.layers.n; i++)
		strvec_push(&j->lowers, base.layers.v[i]);
	j->upper = home_path(ws->home, "tasks/%lld/upper", (long long)ws->task->id);
	j->work = home_path(ws->home, "tasks/%lld/work", (long long)ws->task->id);
	jail_add(j, JAIL_OVERLAY, JAIL_WRITE, "", at);
	if (!ws->backend->has_git)
		return 0;
	if (workspace_describe_git(ws, dot_git, j, e) < 0)
		return -1;
	jail_add(j, JAIL_BIND, 0, monitor, INSIDE_FSMONITOR);
	jail_add(j, JAIL_BIND, JAIL_NOEXEC, j->upper, INSIDE_UPPER);
	jail_add(j, JAIL_BIND, JAIL_NOEXEC, base.index, INSIDE_BASE_INDEX);
	jail_add(j, JAIL_DATA, 0, base.monitor_id, INSIDE_BASE_ID);
	return layers.n ? show_brought(ws, &layers, j, e) : 0;
}

static int overlay_files(struct workspace *ws)
{
	return open_beneath(ws->dir, "upper", O_RDONLY | O_DIRECTORY, 0);
}

static int overlay_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	auto_fd upper = overlay_files(ws);
	auto_submodules subs = { 0 };
	auto_strvec apart = STRVEC_INIT;
	auto_tracked tracked = { 0 };
	auto_base base = { 0 };

	if (upper < 0) {
		err_sys(e, "cannot open the workspace of task '%s'", ws->task->name);
		return e->sys == EACCES ? err_hint(e, "garth exec %s -- chmod u+rwx .", ws->task->name) : -1;
	}
	if (get_base(ws, &base, e) < 0 || tracked_load(base.index, ws->repo->hash_len, &tracked, e) < 0)
		return -1;
	if (submodules_load(ws->dir, &subs, e) < 0)
		return -1;
	submodules_paths(&subs, "", &apart);
	return scan_upper(fd_steal(&upper), &tracked, &apart, ret, e) < 0 ? -1 : layers_mark(ws, ret, e);
}

/* Adds the layers of the submodules. */
static int add_submodules(struct workspace *ws, struct base *base, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(ws->dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_base one = { 0 };

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (submodule_base(ws, &s.v[i], &one, e) < 0)
			return -1;
		strvec_push(&base->layers, one.layers.v[0]);
	}
	return 0;
}

static int overlay_export(struct workspace *ws, int out, struct export_report *ret, struct err *e)
{
	int layers[EXPORT_LAYERS_MAX];
	size_t n = 0;
	auto_base base = { 0 };
	auto_layers brought = { 0 };
	auto_strvec paths = STRVEC_INIT;
	int rc = -1;

	if (get_base(ws, &base, e) < 0 || add_submodules(ws, &base, e) < 0 ||
		layers_open(ws, &brought, e) < 0)
		return -1;
	for (size_t i = 0; i < brought.n; i++)
		strvec_push(&paths, brought.v[i].path);
	strvec_pushv(&paths, (const char *const *)base.layers.v);
	layers[n] = open_beneath(ws->dir, "upper", O_RDONLY | O_DIRECTORY, 0);
	for (size_t i = 0; i < paths.n && layers[n] >= 0 && n + 1 < EXPORT_LAYERS_MAX; i++)
		layers[++n] = open(paths.v[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (layers[n] < 0)
		err_sys(e, "cannot open the workspace of task '%s'", ws->task->name);
	else
		rc = export_layers(layers, n + 1, out, ret, e);
	for (size_t i = 0; i <= n; i++)
		fd_closep(&layers[i]);
	return rc;
}

/* Nothing to move: everything is in the task's directory already. */
static int overlay_remove(struct workspace *ws, struct err *e)
{
	(void)ws;
	(void)e;
	return 0;
}

/* Nothing to check out: the caller has made the commit the task's layer. */
static int overlay_refill(struct workspace *ws, const char *commit, struct err *e)
{
	(void)commit;
	return make_layers(ws->dir, e);
}

/* git status would write its results to the index. The monitor gives them again next time, and writing the
 * index would take longer than everything else. */
static const char *const overlay_env[] = { "GIT_OPTIONAL_LOCKS=0", NULL };

const struct backend backend_overlay = {
	.name = "overlay",
	.can_be_chosen = true,
	.has_git = true,
	.place = "worktrees",
	.at_project = true,
	.env = overlay_env,
	.create = overlay_create,
	.describe = overlay_describe,
	.files = overlay_files,
	.scan = overlay_scan,
	.export = overlay_export,
	.remove = overlay_remove,
	.refill = overlay_refill,
};

const struct backend backend_empty = {
	.name = WORKSPACE_EMPTY,
	.place = "worktrees",
	.create = overlay_create,
	.describe = overlay_describe,
	.files = overlay_files,
	.scan = overlay_scan,
	.export = overlay_export,
	.remove = overlay_remove,
	.refill = overlay_refill,
};
