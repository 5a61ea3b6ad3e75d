#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/private.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "workspace/host.h"

/*
 * The backend "clone" (W3): plain files on the host, and a private repository with all of its objects, as
 * `git clone --no-hardlinks` makes one. Inside, it is mounted over .git. On the host, .git is a directory of
 * the user that points to the user's repository, as a worktree's does. So the user's git sees the task's
 * branch, and never uses a repository that the agent planted among the files.
 */

static char *index_path(const struct workspace *ws)
{
	return path_join(ws->host, ".git/index");
}

/* Makes a minimal git directory for the user's git. Inside, the private repository covers it. */
static int make_git_dir(const struct workspace *ws, struct err *e)
{
	auto_str path = path_join(ws->host, ".git"), head = xasprintf("ref: %s\n", ws->task->branch),
		 common = xasprintf("%s\n", ws->repo->git_dir);
	auto_fd dir = -1;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '%s'", path);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return err_sys(e, "'%s' is not the directory that it was", path);
	if (!faccessat(dir, "commondir", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (write_file(dir, "HEAD", head, strlen(head), 0644, e) < 0)
		return -1;
	/* written last: it makes the directory complete */
	return write_file(dir, "commondir", common, strlen(common), 0644, e);
}

/* Checks the commit out; *text is the index for the private repository. */
static int fill(struct workspace *ws, const char *commit, struct buf *text, struct err *e)
{
	auto_str index = index_path(ws), git_dir = path_join(ws->host, ".git");

	return make_git_dir(ws, e) < 0 || host_check_out(ws, commit, index, text, e) < 0
		       ? -1
		       : host_hide_submodules(ws, git_dir, index, e);
}

static int clone_create(struct workspace *ws, const struct buf *shown, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	struct private_spec s = { .branch = ws->task->branch, .shown = shown, .index = &index };
	mode_t old = umask(0022);
	int rc = -1;

	if (!host_take_place(ws, e) && (fault("create-clone"), !host_open_to_inside(ws, e)) &&
		!fill(ws, ws->task->base, &index, e))
		rc = workspace_make_private(ws, &s, e);
	umask(old);
	return rc;
}

static int clone_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	auto_str dot_git = path_join(ws->task->workspace, ".git"), index = index_path(ws);

	if (access(ws->host, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "the clone '%s' is gone", ws->host);
	if (make_git_dir(ws, e) < 0)
		return -1;
	jail_add(j, JAIL_BIND, JAIL_WRITE, ws->host, ws->task->workspace);
	if (host_cover_submodules(ws, index, j, e) < 0)
		return -1;
	return workspace_describe_git(ws, dot_git, j, e);
}

static int clone_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	auto_str path = index_path(ws);

	return host_scan(ws, path, ret, e);
}

static int clone_published(struct workspace *ws, const char *tip, struct err *e)
{
	auto_str path = index_path(ws), git_dir = path_join(ws->host, ".git");

	return host_published(ws, git_dir, path, tip, e);
}

/* The user may have put it on another branch: then it stays there. */
static int clone_renamed(struct workspace *ws, const char *old, struct err *e)
{
	auto_str path = path_join(ws->host, ".git"), head = xasprintf("ref: %s\n", ws->task->branch),
		 was = xasprintf("ref: %s\n", old);
	auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), file = -1;
	auto_buf now = BUF_SMALL;

	if (dir < 0)
		return errno == ENOENT ? 0 : err_sys(e, "'%s' is not the directory that it was", path);
	file = open_regular_beneath(dir, "HEAD");
	if (file < 0 || read_rest(file, &now, "HEAD", e) < 0 || strcmp(buf_str(&now), was) != 0)
		return 0;
	return write_file(dir, "HEAD", head, strlen(head), 0644, e);
}

/* The directory exists again and is empty. */
static int clone_refill(struct workspace *ws, const char *commit, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	mode_t old = umask(0022);
	int rc = -1;

	if (!host_open_to_inside(ws, e) && !fill(ws, commit, &index, e))
		rc = write_file(ws->dir, "indexed", commit, strlen(commit), 0600, e);
	umask(old);
	return rc;
}

const struct backend backend_clone = {
	.name = "clone",
	.can_be_chosen = true,
	.has_git = true,
	.follows_remote = true,
	.without_namespaces = WORKSPACE_LANDLOCK_ONLY,
	.place = "worktrees",
	.on_host = true,
	.at_project = true,
	.own_objects = true,
	.create = clone_create,
	.describe = clone_describe,
	.files = host_files,
	.scan = clone_scan,
	.export = host_export,
	.remove = host_leave,
	.refill = clone_refill,
	.restore = host_return,
	.published = clone_published,
	.renamed = clone_renamed,
};
