#include "git/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/private.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "workspace/base.h"
#include "workspace/host.h"

/* The file tasks/<id>/admin has the path where git keeps the worktree's administrative files. */
static int read_admin(const struct workspace *ws, char **ret, struct err *e)
{
	auto_buf text = BUF_SMALL;

	if (read_file(ws->dir, "admin", &text, e) < 0)
		return -1;
	*ret = buf_steal(&text);
	return 0;
}

static int worktree_create(struct workspace *ws, const struct buf *shown, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	struct private_spec s = { .branch = ws->task->branch, .shown = shown, .index = &index };
	const char *branch = ws->task->branch + strlen("refs/heads/");
	auto_str admin = NULL, host_index = NULL;
	mode_t old = umask(0022);
	auto_lock lock = -1;
	int rc = -1;

	if (!base_lock(ws->home, ws->task->project_id, &lock, e) && !host_take_place(ws, e) &&
		!worktree_add(ws->repo, ws->host, branch, false, &admin, e) &&
		(fault("create-worktree"), !write_file(ws->dir, "admin", admin, strlen(admin), 0600, e)) &&
		(host_index = path_join(admin, "index")) && !host_open_to_inside(ws, e) &&
		!host_check_out(ws, ws->task->base, host_index, &index, e) &&
		!host_hide_submodules(ws, admin, host_index, e))
		rc = workspace_make_private(ws, &s, e);
	umask(old);
	return rc;
}

static int worktree_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	auto_str dot_git = path_join(ws->host, ".git"), admin = NULL, index = NULL;

	if (read_admin(ws, &admin, e) < 0)
		return -1;
	index = path_join(admin, "index");
	if (access(dot_git, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "the worktree '%s' is gone", ws->host);
	jail_add(j, JAIL_BIND, JAIL_WRITE, ws->host, ws->task->workspace);
	jail_add(j, JAIL_BIND, 0, dot_git, dot_git);
	if (host_cover_submodules(ws, index, j, e) < 0)
		return -1;
	/* the private repository is mounted where .git points to */
	return workspace_describe_git(ws, admin, j, e);
}

static int worktree_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	auto_str admin = NULL;

	if (read_admin(ws, &admin, e) < 0)
		return -1;
	auto_str index = path_join(admin, "index");
	return host_scan(ws, index, ret, e);
}

/* Updates the index that the user's git has for the worktree. */
static int worktree_published(struct workspace *ws, const char *tip, struct err *e)
{
	auto_str admin = NULL;

	if (read_admin(ws, &admin, e) < 0)
		return -1;
	auto_str index = path_join(admin, "index");
	return host_published(ws, admin, index, tip, e);
}

/* With this index, the files need not be read again when the workspace is restored. git is about to remove
 * its own link to the file, so a hard link serves as a copy. */
static int keep_index(struct workspace *ws, const char *admin, struct err *e)
{
	auto_str index = path_join(admin, "index");
	auto_buf text = BUF_INIT(1u << 30);

	unlinkat(ws->dir, HOST_INDEX, 0);
	if (!linkat(AT_FDCWD, index, ws->dir, HOST_INDEX, 0))
		return 0;
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
		/* a crash may have come before or after git registered the worktree */
		worktree_forget(ws->repo, ws->host, &ignored);
		return 0;
	}
	if (access(admin, F_OK) < 0)
		return 0;
	return keep_index(ws, admin, e) < 0 ? -1 : worktree_forget(ws->repo, ws->host, e);
}

static int worktree_remove(struct workspace *ws, struct err *e)
{
	auto_lock lock = -1;

	if (base_lock(ws->home, ws->task->project_id, &lock, e) < 0)
		return -1;
	if (!host_is_placed(ws))
		return rmdir(ws->host), 0;
	if (host_move_away(ws, e) < 0 || forget(ws, e) < 0)
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
	if (e->kind != ERR_NOTFOUND || git_do(&g, NULL, e, "read-tree", since, NULL) < 0)
		return -1;
	return host_hide_submodules(ws, admin, index, e);
}

/* Puts the new .git file into the files, then moves them to their place. If the files were missing when the
 * task was discarded, there is nothing to move. */
static int put_files_back(struct workspace *ws, struct err *e)
{
	auto_fd tree = openat(ws->dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_str pointer = path_join(ws->host, ".git");

	if (tree < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot open the files of '%s'", ws->host);
	if (renameat(AT_FDCWD, pointer, tree, ".git") < 0 || rmdir(ws->host) < 0 ||
		renameat(ws->dir, "tree", AT_FDCWD, ws->host) < 0)
		return err_sys(e, "cannot move the files of '%s' back", ws->host);
	return 0;
}

static int worktree_restore(struct workspace *ws, struct err *e)
{
	const char *branch = ws->task->branch + strlen("refs/heads/");
	auto_str admin = NULL;
	mode_t old = umask(0022);
	auto_lock lock = -1;
	int rc = -1;

	if (!base_lock(ws->home, ws->task->project_id, &lock, e) && !host_take_place(ws, e)) {
		/* until the file admin is written, an interrupted restore is recognized by its path only */
		unlinkat(ws->dir, "admin", 0);
		if (!worktree_add(ws->repo, ws->host, branch, true, &admin, e) &&
			(fault("undo-worktree"),
				!write_file(ws->dir, "admin", admin, strlen(admin), 0600, e)) &&
			!put_index_back(ws, admin, e))
			rc = put_files_back(ws, e);
	}
	umask(old);
	return rc;
}

static int worktree_refill(struct workspace *ws, const char *commit, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	auto_str admin = NULL, host_index = NULL;
	mode_t old = umask(0022);
	int rc = -1;

	if (!read_admin(ws, &admin, e) && (host_index = path_join(admin, "index")) &&
		!host_open_to_inside(ws, e) && !host_check_out(ws, commit, host_index, &index, e) &&
		!host_hide_submodules(ws, admin, host_index, e))
		rc = write_file(ws->dir, "indexed", commit, strlen(commit), 0600, e);
	umask(old);
	return rc;
}

const struct backend backend_worktree = {
	.name = "worktree",
	.can_be_chosen = true,
	.has_git = true,
	.git_worktree = true,
	.place = "worktrees",
	.on_host = true,
	.create = worktree_create,
	.describe = worktree_describe,
	.files = host_files,
	.scan = worktree_scan,
	.export = host_export,
	.remove = worktree_remove,
	.refill = worktree_refill,
	.restore = worktree_restore,
	.published = worktree_published,
};
