#include "git/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/checkout.h"
#include "git/private.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/owner.h"
#include "workspace/base.h"
#include "workspace/export.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

/* The index that the user's git had for the worktree, while it is not registered. */
#define HOST_INDEX "host-index"

/* tasks/<id>/admin remembers where git keeps the worktree's own files. */
static int read_admin(const struct workspace *ws, char **ret, struct err *e)
{
	auto_buf text = BUF_SMALL;

	if (read_file(ws->dir, "admin", &text, e) < 0)
		return -1;
	*ret = buf_steal(&text);
	return 0;
}

/* Root's worktree stays root's, so that root's git trusts it; what is in it belongs to the inside. */
static int open_to_inside(const char *path, struct err *e)
{
	struct owner o = owner_inside();

	if (!owner_is_other())
		return 0;
	if (chown(path, 0, o.gid) < 0 || chmod(path, 0775) < 0)
		return err_sys(e, "cannot open '%s' to the task", path);
	return 0;
}

/* The checkout's index serves twice: inside, and for the user's own git on the worktree. */
static int check_out(struct workspace *ws, const char *admin, struct buf *index, struct err *e)
{
	auto_str part = home_path(ws->home, "tasks/%lld/checkout", (long long)ws->task->id);
	auto_str index_path = path_join(part, "index"), host_index = path_join(admin, "index");
	int rc = -1;

	if (mkdir(part, 0700) < 0 || owner_give(AT_FDCWD, part) < 0)
		return err_sys(e, "cannot make '%s'", part);
	if (!checkout_all(ws->repo, ws->task->base, ws->task->workspace, index_path, e) &&
		!read_file(AT_FDCWD, index_path, index, e))
		rc = write_file(AT_FDCWD, host_index, index->data, index->len, 0644, e);
	unlink(index_path);
	rmdir(part);
	return rc;
}

/* The name is free in the store, but after a store was lost somebody's work may still stand there. `placed`
 * tells that the directory is this task's, to be moved away with it. */
static int take_place(struct workspace *ws, struct err *e)
{
	if (mkdir(ws->task->workspace, 0755) < 0)
		return errno == EEXIST ? err_set(e, ERR_EXISTS, "'%s' is there already", ws->task->workspace)
				       : err_sys(e, "cannot make '%s'", ws->task->workspace);
	return write_file(ws->dir, "placed", "", 0, 0600, e);
}

static int worktree_create(struct workspace *ws, const struct buf *shown, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	struct private_spec s = { .branch = ws->task->branch, .shown = shown, .index = &index };
	const char *branch = ws->task->branch + strlen("refs/heads/");
	auto_str admin = NULL;
	mode_t old = umask(0022);
	auto_lock lock = -1;
	int rc = -1;

	if (!base_lock(ws->home, ws->task->project_id, &lock, e) && !take_place(ws, e) &&
		!worktree_add(ws->repo, ws->task->workspace, branch, &admin, e) &&
		(fault("create-worktree"), !write_file(ws->dir, "admin", admin, strlen(admin), 0600, e)) &&
		!open_to_inside(ws->task->workspace, e) && !check_out(ws, admin, &index, e))
		rc = workspace_make_private(ws, &s, e);
	umask(old);
	return rc;
}

static int worktree_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	auto_str dot_git = path_join(ws->task->workspace, ".git"), admin = NULL;

	if (read_admin(ws, &admin, e) < 0)
		return -1;
	if (access(dot_git, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "the worktree '%s' is gone", ws->task->workspace);
	jail_add(j, JAIL_BIND, JAIL_WRITE, ws->task->workspace, ws->task->workspace);
	jail_add(j, JAIL_BIND, 0, dot_git, dot_git);
	/* the private repository stands where the pointer leads to */
	workspace_describe_git(ws, admin, j);
	return 0;
}

static int worktree_files(struct workspace *ws)
{
	return open(ws->task->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int worktree_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	auto_fd root = worktree_files(ws);
	auto_tracked tracked = { 0 };
	auto_str admin = NULL;

	if (root < 0) {
		err_sys(e, "cannot open the worktree '%s'", ws->task->workspace);
		if (errno == ENOENT)
			e->kind = ERR_NOTFOUND;
		return -1;
	}
	if (read_admin(ws, &admin, e) < 0)
		return -1;
	auto_str index = path_join(admin, "index");
	if (tracked_load(index, ws->repo->hash_len, &tracked, e) < 0)
		return -1;
	return scan_whole(fd_steal(&root), &tracked, ret, e);
}

/* The user's own git on the worktree knows the new commit; entries that stay keep their stat data. */
static int worktree_published(struct workspace *ws, const char *tip, struct err *e)
{
	auto_str admin = NULL;

	if (read_admin(ws, &admin, e) < 0)
		return -1;
	auto_str index = path_join(admin, "index");
	struct git g = {
		.dir = admin, .index = index, .work_tree = ws->task->workspace, .writes_index = true
	};
	if (git_do(&g, NULL, e, "read-tree", "-i", "-m", tip, NULL) < 0)
		return -1;
	return write_file(ws->dir, "indexed", tip, strlen(tip), 0600, e);
}

static int worktree_export(struct workspace *ws, int out, struct export_report *ret, struct err *e)
{
	auto_fd root = open(ws->task->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (root < 0)
		return err_sys(e, "cannot open the worktree '%s'", ws->task->workspace);
	return export_layers(&root, 1, out, ret, e);
}

/* Where the files are in the task's directory already, an undo was cut short, and only its pointer stands
 * there. */
static int move_away(struct workspace *ws, const char *kept, struct err *e)
{
	auto_str pointer = path_join(ws->task->workspace, ".git");

	if (!rename(ws->task->workspace, kept) || errno == ENOENT)
		return 0;
	if ((errno == ENOTEMPTY || errno == EEXIST) && (!unlink(pointer) || errno == ENOENT) &&
		!rmdir(ws->task->workspace))
		return 0;
	return err_sys(e, "cannot move '%s' away", ws->task->workspace);
}

/* With it, the files are known again by their times when the workspace comes back. */
static int keep_index(struct workspace *ws, const char *admin, struct err *e)
{
	auto_str index = path_join(admin, "index");
	auto_buf text = BUF_INIT(1u << 30);

	if (read_file(AT_FDCWD, index, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	return write_file(ws->dir, HOST_INDEX, text.data, text.len, 0600, e);
}

static int forget(struct workspace *ws, struct err *e)
{
	auto_str admin = NULL;
	struct err ignored = ERR_INIT;

	if (read_admin(ws, &admin, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
		/* git may have got to know the worktree, or not */
		worktree_forget(ws->repo, ws->task->workspace, &ignored);
		return 0;
	}
	if (access(admin, F_OK) < 0)
		return 0;
	return keep_index(ws, admin, e) < 0 ? -1 : worktree_forget(ws->repo, ws->task->workspace, e);
}

static int worktree_remove(struct workspace *ws, struct err *e)
{
	auto_str kept = home_path(ws->home, "tasks/%lld/tree", (long long)ws->task->id);
	auto_lock lock = -1;

	if (base_lock(ws->home, ws->task->project_id, &lock, e) < 0)
		return -1;
	if (faccessat(ws->dir, "placed", F_OK, 0) < 0)
		return rmdir(ws->task->workspace), 0;
	if (move_away(ws, kept, e) < 0 || forget(ws, e) < 0)
		return -1;
	unlinkat(ws->dir, "placed", 0);
	return 0;
}

static int put_index_back(struct workspace *ws, const char *admin, struct err *e)
{
	auto_str index = path_join(admin, "index"), since = workspace_since(ws);
	auto_buf text = BUF_INIT(1u << 30);
	struct git g = { .dir = admin, .index = index, .writes_index = true };

	if (!read_file(ws->dir, HOST_INDEX, &text, e))
		return write_file(AT_FDCWD, index, text.data, text.len, 0644, e);
	return e->kind == ERR_NOTFOUND ? git_do(&g, NULL, e, "read-tree", since, NULL) : -1;
}

/* The new pointer goes to the files, then they go to their place. A worktree whose files were gone before it
 * was discarded has none to put there. */
static int put_files_back(struct workspace *ws, struct err *e)
{
	auto_fd tree = openat(ws->dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_str pointer = path_join(ws->task->workspace, ".git");

	if (tree < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot open the files of '%s'", ws->task->workspace);
	if (renameat(AT_FDCWD, pointer, tree, ".git") < 0 || rmdir(ws->task->workspace) < 0 ||
		renameat(ws->dir, "tree", AT_FDCWD, ws->task->workspace) < 0)
		return err_sys(e, "cannot move the files of '%s' back", ws->task->workspace);
	return 0;
}

static int worktree_restore(struct workspace *ws, struct err *e)
{
	const char *branch = ws->task->branch + strlen("refs/heads/");
	auto_str admin = NULL;
	mode_t old = umask(0022);
	auto_lock lock = -1;
	int rc = -1;

	if (!base_lock(ws->home, ws->task->project_id, &lock, e) && !take_place(ws, e)) {
		/* what is half done from here on is known by its place alone */
		unlinkat(ws->dir, "admin", 0);
		if (!worktree_add(ws->repo, ws->task->workspace, branch, &admin, e) &&
			(fault("undo-worktree"),
				!write_file(ws->dir, "admin", admin, strlen(admin), 0600, e)) &&
			!put_index_back(ws, admin, e))
			rc = put_files_back(ws, e);
	}
	umask(old);
	return rc;
}

const struct backend backend_worktree = {
	.name = "worktree",
	.create = worktree_create,
	.describe = worktree_describe,
	.files = worktree_files,
	.scan = worktree_scan,
	.export = worktree_export,
	.remove = worktree_remove,
	.restore = worktree_restore,
	.published = worktree_published,
};
