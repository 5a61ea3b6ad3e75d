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
 * The backend "alone": a clone for machines without mount namespaces (J9, W3). Nothing can be mounted over
 * its .git, so .git is a file that points to the private repository. If the user ran git among these files,
 * it would execute what the agent configured there. So the files are at alone/<task>, a path that `garth
 * path` never prints, and Garth compares them from outside with an index of its own.
 */

static char *index_path(const struct workspace *ws)
{
	return home_path(ws->home, "tasks/%lld/" HOST_INDEX, (long long)ws->task->id);
}

/* If an agent removed the file, the next start makes it again. */
static int make_pointer(const struct workspace *ws, struct err *e)
{
	auto_str git = home_path(ws->home, "tasks/%lld/git", (long long)ws->task->id),
		 text = xasprintf("gitdir: %s\n", git);
	auto_fd dir = open(ws->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dir < 0)
		return err_sys(e, "cannot open '%s'", ws->host);
	if (!faccessat(dir, ".git", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	return write_file(dir, ".git", text, strlen(text), 0644, e);
}

static int landlock_only_create(struct workspace *ws, const struct buf *shown, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	auto_str hook = workspace_inside(ws->home, ws->task, "/hook"), path = index_path(ws);
	struct private_spec s = { .branch = ws->task->branch, .shown = shown, .index = &index, .hook = hook };
	mode_t old = umask(0022);
	int rc = -1;

	mkdirat(ws->home->fd, ws->backend->place, 0700);
	if (!host_take_place(ws, e) && (fault("create-alone"), !make_pointer(ws, e)) &&
		!host_check_out(ws, ws->task->base, path, &index, e))
		rc = workspace_make_private(ws, &s, e);
	umask(old);
	return rc;
}

static int landlock_only_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	auto_str git = home_path(ws->home, "tasks/%lld/git", (long long)ws->task->id);

	if (access(ws->host, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "the clone '%s' is gone", ws->host);
	if (make_pointer(ws, e) < 0)
		return -1;
	jail_add(j, JAIL_BIND, JAIL_WRITE, ws->host, ws->task->workspace);
	return workspace_describe_git(ws, git, j, e);
}

static int landlock_only_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	auto_str path = index_path(ws);

	return host_scan(ws, path, ret, e);
}

static int landlock_only_published(struct workspace *ws, const char *tip, struct err *e)
{
	auto_str path = index_path(ws);

	return host_published(ws, ws->repo->git_dir, path, tip, e);
}

static int landlock_only_refill(struct workspace *ws, const char *commit, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	auto_str path = index_path(ws);
	mode_t old = umask(0022);
	int rc = -1;

	if (!make_pointer(ws, e) && !host_check_out(ws, commit, path, &index, e))
		rc = write_file(ws->dir, "indexed", commit, strlen(commit), 0600, e);
	umask(old);
	return rc;
}

/* git fails if it may not read a configuration file, and /etc/gitconfig is not shown inside. */
static const char *const env[] = { "GIT_CONFIG_NOSYSTEM=1", NULL };

const struct backend backend_landlock_only = {
	.name = WORKSPACE_LANDLOCK_ONLY,
	.has_git = true,
	.follows_remote = true,
	.landlock_only = true,
	.place = "alone",
	.env = env,
	.on_host = true,
	.own_objects = true,
	.create = landlock_only_create,
	.describe = landlock_only_describe,
	.files = host_files,
	.scan = landlock_only_scan,
	.export = host_export,
	.remove = host_leave,
	.refill = landlock_only_refill,
	.restore = host_return,
	.published = landlock_only_published,
};
