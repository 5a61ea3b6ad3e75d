#include "jail/copy_up.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "jail/copy_up_parts.h"
#include "sys/dir.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/linux.h"
#include "sys/tree.h"

#define PREFIX     ".garth-rename-"
#define PASSES_MAX 10
#define ABOVE_MAX  4096

/* A directory that is being copied, and the directory in which its copy is made. */
struct moving {
	int parent;
	const char *name;
	int top;
	char stage_name[40];
	int stage, tree;
	struct tree_copy *copy;
	mode_t mode;
	bool recovers; /* then the copy is put in place even if somebody removed the directory */
};

static int random_name(char out[40])
{
	uint64_t key;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -1;
	snprintf(out, 40, PREFIX "%016llx", (unsigned long long)key);
	return 0;
}

int copy_up_top(int dir, const struct stat *below, bool *met)
{
	auto_fd at = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statx sx;
	struct stat st;

	if (met)
		*met = false;
	for (unsigned i = 0; at >= 0 && i < ABOVE_MAX; i++) {
		int above;

		if (fstat(at, &st) < 0 || statx(at, "", AT_EMPTY_PATH, STATX_TYPE, &sx) < 0)
			return -1;
		if (met && st.st_ino == below->st_ino && st.st_dev == below->st_dev)
			*met = true;
		if (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT)
			return fd_steal(&at);
		above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd_closep(&at);
		at = above;
	}
	return -1;
}

/* Tries to rename it to a directory that is not empty, beside it. The kernel refuses that in any case: with
 * EXDEV, or, if it is only in the upper layer, with ENOTEMPTY. */
static bool is_refused(int parent, const char *name)
{
	auto_fd other = -1;
	char beside[40];
	int rc, error;

	if (random_name(beside) < 0 || mkdirat(parent, beside, 0700) < 0)
		return false;
	other = tree_open(parent, beside);
	if (other < 0 || mkdirat(other, "x", 0700) < 0) {
		unlinkat(parent, beside, AT_REMOVEDIR);
		return false;
	}
	rc = renameat(parent, name, parent, beside);
	error = errno;
	/* somebody emptied it */
	if (!rc)
		renameat2(parent, beside, parent, name, RENAME_NOREPLACE);
	unlinkat(other, "x", AT_REMOVEDIR);
	unlinkat(parent, beside, AT_REMOVEDIR);
	return rc < 0 && error == EXDEV;
}

bool copy_up_may_be_needed(int parent, const char *name)
{
	auto_fd dir = tree_open(parent, name);
	struct statfs fs;
	struct stat st;

	if (dir < 0 || fstatfs(dir, &fs) < 0 || fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return false;
	/* A change without effect brings the directory itself, without its files, to the upper layer. If it is in a
	 * lower layer too, the overlay then reports one link. On some file systems (btrfs) all directories have
	 * one link. */
	return !fchown(dir, (uid_t)-1, (gid_t)-1) && !fstat(dir, &st) && st.st_nlink == 1;
}

bool copy_up_needed(int parent, const char *name)
{
	return copy_up_may_be_needed(parent, name) && is_refused(parent, name);
}

static int write_from(const struct moving *m)
{
	char link[40], path[PATH_MAX];
	ssize_t n;
	int rc;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", m->parent);
	n = readlink(link, path, sizeof(path));
	if (n <= 0)
		return -1;
	rc = snprintf(path + n, sizeof(path) - (size_t)n, "/%s", m->name);
	if (rc < 0 || (size_t)(n + rc) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return symlinkat(path, m->stage, "from");
}

static int make_stage(struct moving *m)
{
	auto_fd ignore = -1;

	m->top = copy_up_top(m->parent, NULL, NULL);
	if (m->top < 0 || random_name(m->stage_name) < 0 || mkdirat(m->top, m->stage_name, 0700) < 0)
		return -1;
	m->stage = tree_open(m->top, m->stage_name);
	if (m->stage < 0)
		return -1;
	ignore = openat(m->stage, ".gitignore", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (ignore < 0 || write_full(ignore, "*\n", 2) < 0 || write_from(m) < 0 ||
		mkdirat(m->stage, "tree", 0700) < 0)
		return -1;
	m->tree = tree_open(m->stage, "tree");
	return m->tree < 0 ? -1 : 0;
}

/* The order matters: after a kill, an incomplete copy is never taken for complete. */
static void remove_stage(const struct moving *m)
{
	struct err ignored = ERR_INIT;
	int kept = errno;

	if (m->stage >= 0 && !tree_remove(m->stage, "tree", &ignored)) {
		unlinkat(m->stage, "from", 0);
		unlinkat(m->stage, ".gitignore", 0);
	}
	if (*m->stage_name)
		unlinkat(m->top, m->stage_name, AT_REMOVEDIR);
	errno = kept;
}

static int make_copy(struct moving *m)
{
	auto_fd from = tree_open(m->parent, m->name);
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0)
		return -1;
	m->mode = st.st_mode;
	m->copy->root = m->tree;
	if (tree_link(m->copy, from, m->tree) < 0)
		return -1;
	fault("rename-copied");
	/* it gets its own mode only after step 3: a directory that is moved must be writable */
	if (tree_copy_meta(from, m->tree, &st, true) < 0)
		return -1;
	return unlinkat(m->stage, ".gitignore", 0);
}

static int empty_source(const struct moving *m)
{
	auto_fd from = tree_open(m->parent, m->name);

	if (from < 0)
		return errno == ENOENT && m->recovers ? 0 : -1;
	return tree_empty(m->copy, from, m->tree);
}

/* Steps 2 and 3. Other processes may add files meanwhile. */
static int replace(const struct moving *m)
{
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		if (empty_source(m) < 0) {
			if (errno != ENOTEMPTY)
				return -1;
			continue;
		}
		fault("rename-emptied");
		if (!renameat(m->stage, "tree", m->parent, m->name))
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -1;
	}
	errno = EBUSY;
	return -1;
}

/* If this fails too, what is left is tried again at the next start. A directory that is gone was removed by
 * somebody else. */
static int put_back(const struct moving *m)
{
	auto_fd to = tree_open(m->parent, m->name);

	if (to < 0 && errno == ENOENT && !m->recovers)
		return 0;
	return to < 0 || tree_restore(m->tree, to) < 0 ? -1 : fchmod(to, m->mode & 03777);
}

/* Replaces the directory, or puts back what was removed. 0, or -1 and errno; then *ret_whole tells whether the
 * directory has everything. */
static int finish(const struct moving *m, bool *ret_whole)
{
	int kept;

	*ret_whole = true;
	if (!replace(m)) {
		if ((m->mode & 0700) != 0700)
			fchmod(m->tree, m->mode & 03777);
		return 0;
	}
	kept = errno;
	*ret_whole = !put_back(m);
	errno = kept;
	return -1;
}

static void release(struct moving *m)
{
	int kept = errno;

	tree_copy_release(m->copy);
	free(m->copy);
	fd_closep(&m->tree);
	fd_closep(&m->stage);
	fd_closep(&m->top);
	errno = kept;
}

int copy_up_dir(int parent, const char *name, bool (*goes_on)(void *arg), void *arg)
{
	struct moving m = { .parent = parent, .name = name, .top = -1, .stage = -1, .tree = -1 };
	bool whole = true;
	int rc;

	m.copy = xcalloc(1, sizeof(*m.copy));
	m.copy->goes_on = goes_on;
	m.copy->arg = arg;
	rc = make_stage(&m) < 0 || make_copy(&m) < 0 ? -1 : finish(&m, &whole);
	if (whole)
		remove_stage(&m);
	release(&m);
	return rc;
}

/* Opens the directory that the link `from` names, if it is in this mount. */
static int open_from(struct moving *m, char path[PATH_MAX])
{
	ssize_t n = readlinkat(m->stage, "from", path, PATH_MAX - 1);
	auto_fd parent = -1, top = -1;
	struct stat a, b;
	char *slash;

	if (n <= 0)
		return -1;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || slash == path || dir_is_dot(slash + 1) || !slash[1])
		return -1;
	*slash = '\0';
	parent = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	top = parent < 0 ? -1 : copy_up_top(parent, NULL, NULL);
	if (top < 0 || fstat(top, &a) < 0 || fstat(m->top, &b) < 0 || a.st_ino != b.st_ino ||
		a.st_dev != b.st_dev)
		return -1;
	m->parent = fd_steal(&parent);
	m->name = slash + 1;
	return 0;
}

static void recover_one(int top, const char *name)
{
	struct moving m = { .parent = -1, .top = top, .tree = -1, .recovers = true };
	char path[PATH_MAX];
	bool whole = true;
	struct stat st;

	snprintf(m.stage_name, sizeof(m.stage_name), "%s", name);
	m.stage = tree_open(top, name);
	if (m.stage < 0)
		return;
	m.copy = xcalloc(1, sizeof(*m.copy));
	m.tree = tree_open(m.stage, "tree");
	if (m.tree >= 0 && faccessat(m.stage, ".gitignore", F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		whole = !fstat(m.tree, &st) && !open_from(&m, path);
		m.mode = whole ? st.st_mode : 0;
		if (whole)
			finish(&m, &whole);
	}
	if (whole)
		remove_stage(&m);
	fd_closep(&m.parent);
	m.top = -1;
	release(&m);
}

static bool is_stage(const char *name)
{
	return !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       strspn(name + strlen(PREFIX), "0123456789abcdef") == 16 && strlen(name) == strlen(PREFIX) + 16;
}

void copy_up_recover(const char *top)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d)
		fd_closep(&fd);
	while (d && (ent = readdir(d)))
		if (is_stage(ent->d_name))
			recover_one(dirfd(d), ent->d_name);
}
