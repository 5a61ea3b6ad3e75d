#include "workspace/delta.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "base/path.h"
#include "git/checkout.h"
#include "git/gitlinks.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "workspace/base.h"

/* If diff-tree prints more than this (about 4,000 paths), a full base is better. */
#define DELTA_MAX (512u << 10)

static bool is_commit_name(const char *name)
{
	return oid_is(name, 20) || oid_is(name, 32);
}

static bool is_full(int project_fd, const char *name)
{
	auto_str parent = path_join(name, "parent");

	return faccessat(project_fd, parent, F_OK, 0) < 0;
}

int delta_names(int project_fd, struct strvec *ret, struct err *e)
{
	int copy = openat(project_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	if (!d) {
		fd_closep(&copy);
		return err_sys(e, "cannot list the bases");
	}
	while ((ent = readdir(d)))
		strvec_push(ret, ent->d_name);
	closedir(d);
	return 0;
}

int delta_list(int project_fd, bool full_only, struct strvec *ret, struct err *e)
{
	auto_strvec all = STRVEC_INIT;

	if (delta_names(project_fd, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (is_commit_name(all.v[i]) && (!full_only || is_full(project_fd, all.v[i])))
			strvec_push(ret, all.v[i]);
	return 0;
}

char *delta_newest_full(int project_fd)
{
	auto_strvec names = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	struct timespec best = { 0 };
	char *found = NULL;

	delta_list(project_fd, true, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;

		if (fstatat(project_fd, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!found || st.st_mtim.tv_sec > best.tv_sec ||
			(st.st_mtim.tv_sec == best.tv_sec && st.st_mtim.tv_nsec > best.tv_nsec)) {
			free(found);
			found = xstrdup(names.v[i]);
			best = st.st_mtim;
		}
	}
	return found;
}

static bool exists(int dir, const char *path)
{
	struct stat st;

	return !lstat_beneath(dir, path, &st);
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* A commit's names and links are untrusted: directories are opened beneath the tree, never through links. */
static DIR *open_dir(int tree, const char *path)
{
	int fd = open_beneath(tree, path, O_RDONLY | O_DIRECTORY, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		fd_closep(&fd);
	return d;
}

/* Whether everything in the directory `dir` of the tree `from` is a whiteout in the delta. */
static bool all_gone(int from, int delta, const char *dir)
{
	DIR *d = open_dir(from, dir);
	struct dirent *ent;
	bool gone = true;

	while (gone && d && (ent = readdir(d))) {
		auto_str sub = xasprintf("%s/%s", dir, ent->d_name);
		struct stat st;

		if (!is_dot(ent->d_name))
			gone = !lstat_beneath(delta, sub, &st) && S_ISCHR(st.st_mode);
	}
	if (d)
		closedir(d);
	return gone;
}

static int whiteout(int tree, const char *path, struct err *e)
{
	struct owner o = owner_inside();
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd dir = mkdirs_beneath(tree, parent, 0755, owner_is_other() ? o.uid : (uid_t)-1, o.gid);

	if (dir < 0)
		return errno == ENOTDIR || errno == ELOOP ? 0
							  : err_sys(e, "cannot make '%s' in a delta", parent);
	if (mknodat(dir, path_base(path), S_IFCHR | 0, makedev(0, 0)) < 0 && errno != EEXIST)
		return err_sys(e, "cannot mark '%s' as gone in a delta", path);
	return 0;
}

/* Replaces a directory of the delta that has only whiteouts by one whiteout. */
static int fold(int tree, const char *path, struct err *e)
{
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd up = open_beneath(tree, parent, O_RDONLY | O_DIRECTORY, 0);
	DIR *d = open_dir(tree, path);
	struct dirent *ent;

	while (d && (ent = readdir(d)))
		if (!is_dot(ent->d_name))
			unlinkat(dirfd(d), ent->d_name, 0);
	if (d)
		closedir(d);
	if (up >= 0 && unlinkat(up, path_base(path), AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_sys(e, "cannot fold '%s' in a delta", path);
	return whiteout(tree, path, e);
}

/* git has no empty directories: if a directory's last file was removed, the directory goes too, and then
 * perhaps its parent. */
static int fold_empty(int parent_tree, int tree, const char *path, struct err *e)
{
	auto_str dir = xstrdup(path);

	for (;;) {
		char *slash = strrchr(dir, '/');
		struct stat st;

		if (!slash)
			return 0;
		*slash = '\0';
		if (lstat_beneath(parent_tree, dir, &st) < 0 || !S_ISDIR(st.st_mode))
			return 0;
		if (lstat_beneath(tree, dir, &st) < 0 || !S_ISDIR(st.st_mode))
			return 0;
		if (!all_gone(parent_tree, tree, dir) || !all_gone(tree, tree, dir))
			return 0;
		if (fold(tree, dir, e) < 0)
			return -1;
	}
}

static int put_whiteouts(
	const struct repo *r, const struct buf *raw, int parent_tree, int tree, struct err *e)
{
	struct diff_entry d;
	size_t at = 0;

	for (at = 0; diff_next(raw, &at, r->hash_len, &d) > 0;)
		if (!d.new_mode && !exists(tree, d.path) && whiteout(tree, d.path, e) < 0)
			return -1;
	for (at = 0; diff_next(raw, &at, r->hash_len, &d) > 0;)
		if (!d.new_mode && fold_empty(parent_tree, tree, d.path, e) < 0)
			return -1;
	return 0;
}

/* git never changes an index in place but renames a new one over it, so a hard link serves as a copy. */
static int link_index(int project_fd, const char *parent, int dir, struct err *e)
{
	auto_str from = path_join(parent, "index");

	return linkat(project_fd, from, dir, "index", 0) < 0 ? err_sys(e, "cannot link a base's index") : 0;
}

/* Whether a directory became a submodule. Its whiteouts would have to go, and the empty directory to stay. */
static bool has_new_submodule(const struct repo *r, const struct buf *raw, int parent_tree)
{
	struct diff_entry d;
	struct stat st;

	for (size_t at = 0; diff_next(raw, &at, r->hash_len, &d) > 0;)
		if ((d.new_mode & S_IFMT) == GITLINK_MODE && !d.old_mode &&
			!lstat_beneath(parent_tree, d.path, &st) && S_ISDIR(st.st_mode))
			return true;
	return false;
}

int delta_make(const struct home *h, int64_t project, int project_fd, const struct repo *r, int dir,
	const char *path, struct err *e)
{
	auto_str parent = delta_newest_full(project_fd);
	auto_str tree_path = path_join(path, "tree"), index = path_join(path, "index"),
		 small = path_join(path, "small");
	auto_str monitor = NULL;
	auto_buf raw = BUF_INIT(DELTA_MAX);
	auto_fd tree = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC), parent_tree = -1;

	if (!parent || checkout_diff(r, parent, r->commit, DELTA_MAX, &raw, e) < 0)
		return 1;
	auto_str parent_path = home_path(h, "bases/%lld/%s/tree", (long long)project, parent);
	parent_tree = open(parent_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree < 0 || parent_tree < 0)
		return err_sys(e, "cannot open a base");
	if (has_new_submodule(r, &raw, parent_tree))
		return 1;
	if (proc_find_part(BASE_FSMONITOR_PART, &monitor, e) < 0 ||
		link_index(project_fd, parent, dir, e) < 0 ||
		checkout_delta(r, &raw, tree_path, index, small, monitor, parent, e) < 0)
		return -1;
	fault("delta-checkout");
	if (put_whiteouts(r, &raw, parent_tree, tree, e) < 0)
		return -1;
	unlinkat(dir, "small", 0);
	return write_file(dir, "parent", parent, strlen(parent), 0600, e);
}
