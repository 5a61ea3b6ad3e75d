#include "workspace/host.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/checkout.h"
#include "git/gitlinks.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/tree.h"
#include "workspace/export.h"
#include "workspace/layer_use.h"
#include "workspace/scan.h"
#include "workspace/space.h"
#include "workspace/submodules.h"

int host_take_place(struct workspace *ws, struct err *e)
{
	if (mkdir(ws->host, 0755) < 0)
		return errno == EEXIST ? err_set(e, ERR_EXISTS, "'%s' is there already", ws->host)
				       : err_sys(e, "cannot make '%s'", ws->host);
	return write_file(ws->dir, "placed", "", 0, 0600, e);
}

bool host_is_placed(const struct workspace *ws)
{
	return !faccessat(ws->dir, "placed", F_OK, 0);
}

int host_open_to_inside(const struct workspace *ws, struct err *e)
{
	const char *path = ws->host;
	struct owner o = owner_inside();

	if (!owner_is_other())
		return 0;
	if (chown(path, 0, o.gid) < 0 || chmod(path, 0775) < 0)
		return err_sys(e, "cannot open '%s' to the task", path);
	return 0;
}

int host_check_out(
	struct workspace *ws, const char *commit, const char *index, struct buf *text, struct err *e)
{
	auto_str part = home_path(ws->home, "tasks/%lld/checkout", (long long)ws->task->id);
	auto_str own = path_join(part, "index");
	struct err ignored = ERR_INIT;
	int rc = -1;

	/* an interrupted checkout may have left the directory */
	if (space_check(ws->home, ws->repo, commit, e) < 0 || tree_remove(ws->dir, "checkout", e) < 0)
		return -1;
	if (mkdir(part, 0700) < 0 || owner_give(AT_FDCWD, part) < 0)
		return err_sys(e, "cannot make '%s'", part);
	if (!checkout_all(ws->repo, commit, ws->host, own, e) && !read_file(AT_FDCWD, own, text, e))
		rc = write_file(AT_FDCWD, index, text->data, text->len, 0644, e);
	tree_remove(ws->dir, "checkout", &ignored);
	return rc;
}

int host_hide_submodules(const struct workspace *ws, const char *git_dir, const char *index, struct err *e)
{
	return gitlinks_hide(git_dir, ws->host, index, ws->repo->hash_len, e);
}

int host_cover_submodules(const struct workspace *ws, const char *index, struct jail *j, struct err *e)
{
	auto_gitlinks links = { 0 };
	auto_submodules subs = { 0 };
	auto_strvec here = STRVEC_INIT;

	/* without an index, git on the host knows of no submodule */
	if (gitlinks_read(index, ws->repo->hash_len, &links, e) < 0 && e->kind != ERR_NOTFOUND)
		return -1;
	if (submodules_load(ws->dir, &subs, e) < 0)
		return -1;
	submodules_paths(&subs, "", &here);
	for (size_t i = 0; i < links.n; i++) {
		auto_str at = path_join(ws->task->workspace, links.v[i].path);

		if (!strvec_has(&here, links.v[i].path))
			jail_add(j, JAIL_TMPFS, JAIL_NOEXEC, "4096", at);
	}
	return 0;
}

int host_files(struct workspace *ws)
{
	return open(ws->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* Says that the task's files are missing. */
static int no_files(const struct workspace *ws, struct err *e)
{
	err_sys(e, "cannot open the files of task '%s' at '%s'", ws->task->name, ws->host);
	if (errno == ENOENT)
		e->kind = ERR_NOTFOUND, err_hint(e, "garth doctor --repair");
	return -1;
}

int host_scan(struct workspace *ws, const char *index, struct changes *ret, struct err *e)
{
	auto_fd root = host_files(ws);
	auto_tracked tracked = { 0 }, brought = { 0 };

	if (root < 0)
		return no_files(ws, e);
	if (tracked_load(index, ws->repo->hash_len, &tracked, e) < 0 || layers_brought(ws, &brought, e) < 0)
		return -1;
	return scan_whole(fd_steal(&root), &tracked, &brought, ret, e);
}

/* Their files are elsewhere; their directories are among those of the workspace, or of the one around them. */
static int export_submodules(struct workspace *ws, int out, struct export_report *ret, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(ws->dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_str tree = xasprintf("sub/%zu/tree", i);
		auto_fd from = open_beneath(ws->dir, tree, O_RDONLY | O_DIRECTORY, 0),
			to = mkdirs_beneath(out, s.v[i].path, 0755, (uid_t)-1, (gid_t)-1);

		if (!submodule_is_here(&s.v[i]))
			continue;
		/* the agent may have put a link or a file where a directory above it was */
		if (from < 0 || to < 0) {
			ret->nleft_out++;
			strvec_push(&ret->left_out, s.v[i].path);
			continue;
		}
		if (export_layers(&from, 1, to, ret, e) < 0)
			return -1;
	}
	return 0;
}

int host_export(struct workspace *ws, int out, struct export_report *ret, struct err *e)
{
	auto_fd root = host_files(ws);

	if (root < 0)
		return no_files(ws, e);
	return export_layers(&root, 1, out, ret, e) < 0 ? -1 : export_submodules(ws, out, ret, e);
}

int host_published(
	struct workspace *ws, const char *git_dir, const char *index, const char *tip, struct err *e)
{
	struct git g = { .dir = git_dir, .index = index, .work_tree = ws->host, .writes_index = true };

	if (git_do(&g, NULL, e, "read-tree", "-i", "-m", tip, NULL) < 0 ||
		host_hide_submodules(ws, git_dir, index, e) < 0)
		return -1;
	return write_file(ws->dir, "indexed", tip, strlen(tip), 0600, e);
}

int host_move_away(struct workspace *ws, struct err *e)
{
	auto_str git = path_join(ws->host, ".git"),
		 kept = home_path(ws->home, "tasks/%lld/tree", (long long)ws->task->id);

	if (!rename(ws->host, kept) || errno == ENOENT)
		return 0;
	if (errno == EACCES) {
		auto_str name = path_join(ws->backend->place, path_base(ws->host));

		tree_make_movable(ws->home->fd, name);
		if (!rename(ws->host, kept))
			return 0;
	}
	if ((errno == ENOTEMPTY || errno == EEXIST) && (!unlink(git) || !rmdir(git) || errno == ENOENT) &&
		!rmdir(ws->host))
		return 0;
	return err_sys(e, "cannot move '%s' away", ws->host);
}

int host_leave(struct workspace *ws, struct err *e)
{
	if (!host_is_placed(ws))
		return rmdir(ws->host), 0;
	if (host_move_away(ws, e) < 0)
		return -1;
	unlinkat(ws->dir, "placed", 0);
	return 0;
}

int host_return(struct workspace *ws, struct err *e)
{
	if (host_take_place(ws, e) < 0)
		return -1;
	fault("undo-clone");
	/* replaces the empty directory; ENOENT: the files were missing before the task was discarded */
	if (renameat(ws->dir, "tree", AT_FDCWD, ws->host) < 0 && errno != ENOENT)
		return err_sys(e, "cannot move the files of '%s' back", ws->host);
	return 0;
}
