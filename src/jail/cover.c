/*
 * Puts rules about paths in the workspace into effect, by mounts over the paths that they name:
 *
 *	may not be read     an empty directory or file, read-only
 *	may not be written  the path itself, read-only
 *	may be, in one that may not    the path itself, once more on top
 *	is above one that may not be read    itself, so that it cannot be renamed
 *
 * The tree is walked once, when the jail is entered and nobody is inside yet. Only directories below which a rule
 * could match are read. A mount stays on its directory entry: inside, a covered name can be neither removed nor
 * renamed. Names that a rule without wildcards denies and that do not exist get a FIFO in a layer of the
 * overlay as the mount point, because git does not list FIFOs. Names that match a wildcard and are made later
 * are not covered; the gateway refuses them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "jail/mount.h"
#include "jail/steps.h"
#include "sys/fd.h"
#include "sys/linux.h"

#define COVERS_MAX  500
#define ENTRIES_MAX 2000000
#define DEPTH_MAX   128

struct cover {
	char *path; /* relative to the workspace */
	mode_t type;
	bool read, write;
	int fd; /* a clone of what is there; of an empty directory on top of it, later */
};

struct covers {
	const struct rules *rules;
	struct cover v[COVERS_MAX];
	size_t n, entries;
};

static void covers_free(struct covers *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].path);
		fd_closep(&l->v[i].fd);
	}
	free(l);
}

static bool allows(const struct rule *r)
{
	return !r || !rule_denies(r);
}

static int too_many(struct err *e)
{
	return err_set(e, ERR_START,
		"rules of 'jail' name more than %d paths of the workspace: name directories", COVERS_MAX);
}

static int note(struct covers *l, int dir, const char *name, const struct cover *c, struct err *e)
{
	int fd;

	if (l->n == COVERS_MAX)
		return too_many(e);
	fd = open_tree(dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	if (fd < 0)
		return err_sys(e, "cannot cover %s", c->path);
	l->v[l->n] = *c;
	l->v[l->n].path = xstrdup(c->path);
	l->v[l->n++].fd = fd;
	return 0;
}

static int walk(struct covers *l, int dir, const struct cover *of, unsigned depth, struct err *e);

static int look_at(struct covers *l, int dir, const struct dirent *ent, const struct cover *of,
	unsigned depth, struct err *e)
{
	const char *name = ent->d_name;
	auto_str path = *of->path ? path_join(of->path, name) : xstrdup(name);
	struct cover c = { .path = path };
	struct stat st;

	if (++l->entries > ENTRIES_MAX || depth > DEPTH_MAX)
		return err_set(e, ERR_START, "the workspace is too large for the rules of 'jail'");
	c.read = allows(rules_read(l->rules, path));
	c.write = allows(rules_write(l->rules, path));
	/* most are files that no rule is about: without their inodes a large tree is walked several times faster */
	if (ent->d_type == DT_REG && c.read == of->read && c.write == of->write)
		return 0;
	/* gone meanwhile: the host can see a worktree */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot look at %s", path);
	/* nothing can be mounted over a link; what it leads to is judged by its own path */
	if (S_ISLNK(st.st_mode))
		return 0;
	c.type = st.st_mode & S_IFMT;
	if ((c.read != of->read || c.write != of->write) && note(l, dir, name, &c, e) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode) || !rules_are_beneath(l->rules, path))
		return 0;
	int sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* the agent closed it to itself */
	if (sub < 0)
		return errno == EACCES ? 0 : err_sys(e, "cannot look into %s", path);
	return walk(l, sub, &c, depth + 1, e);
}

/* Whether it is the git view of a submodule, which is mounted: no part of the workspace's files. An agent's own .git is
 * one, like every directory. */
static bool is_git_view(int dir, const char *name, bool top)
{
	struct statx st = { 0 };

	if (strcmp(name, ".git") != 0)
		return false;
	return top || (!statx(dir, name, AT_SYMLINK_NOFOLLOW, 0, &st) &&
			      (st.stx_attributes & STATX_ATTR_MOUNT_ROOT));
}

/* Closes dir. */
static int walk(struct covers *l, int dir, const struct cover *of, unsigned depth, struct err *e)
{
	DIR *d = fdopendir(dir);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return close(dir), err_sys(e, "cannot look into %s", of->path);
	while (!rc && (ent = readdir(d))) {
		const char *name = ent->d_name;

		if (strcmp(name, ".") && strcmp(name, "..") && !is_git_view(dirfd(d), name, !*of->path))
			rc = look_at(l, dirfd(d), ent, of, depth, e);
	}
	closedir(d);
	return rc;
}

static int empty_dir(void)
{
	const struct mount_option o[] = { { "size", "64k" }, { "nr_inodes", "1000" }, { "mode", "0755" } };

	return mount_new("tmpfs", o, ARRAY_SIZE(o), MOUNT_NODEV | MOUNT_NOEXEC);
}

/* What may be written to a FIFO of a covered name must go nowhere, and what is not to be read has no content. */
static int empty_file(struct entering *in, bool read)
{
	const char *name = read ? "empty" : "closed";
	auto_fd fd = openat(in->stage, name, O_WRONLY | O_CREAT | O_CLOEXEC, read ? 0444 : 0);
	int clone = fd < 0 && errno != EACCES ? -1 : mount_clone(in->stage, name);

	if (clone >= 0 && mount_limit(clone, MOUNT_RO | MOUNT_NODEV | MOUNT_NOEXEC) < 0)
		fd_closep(&clone);
	return clone;
}

static int make_place(int dir, const char *name, mode_t type)
{
	int rc = S_ISDIR(type) ? mkdirat(dir, name, 0755) : mknodat(dir, name, S_IFREG | 0644, 0);

	return rc < 0 && errno != EEXIST ? -1 : 0;
}

static int attach(struct entering *in, int top, struct cover *c)
{
	const char *name = path_base(c->path);
	auto_str above = xstrndup(c->path, name == c->path ? 0 : (size_t)(name - c->path - 1));
	auto_fd dir = *above ? mkdirs_beneath(top, above, 0755, (uid_t)-1, (gid_t)-1)
			     : openat(top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = c->fd;

	if (fd < 0)
		c->fd = fd = mount_clone(top, c->path);
	if (!c->read || S_ISFIFO(c->type)) {
		fd = S_ISDIR(c->type) ? empty_dir() : empty_file(in, c->read);
		close(c->fd);
		c->fd = fd;
	} else if (!c->write && mount_limit(fd, MOUNT_RO | MOUNT_NODEV) < 0) {
		return -1;
	}
	if (dir < 0 || fd < 0)
		return -1;
	/* in an empty directory that covers the one above */
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && make_place(dir, name, c->type) < 0)
		return -1;
	return mount_attach(fd, dir, name);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct cover *)a)->path, ((const struct cover *)b)->path);
}

static bool has(const struct covers *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].path, path))
			return true;
	return false;
}

/* A directory can be renamed with a cover below it, and at the next start no rule would match there. So the
 * directories above what may not be read are mounted over themselves: a mount point cannot be renamed. */
static int pin_parents(struct covers *l, struct err *e)
{
	size_t n = l->n;

	for (size_t i = 0; i < n; i++)
		for (const char *s = l->v[i].path; !l->v[i].read && (s = strchr(s, '/')); s++) {
			auto_str above = xstrndup(l->v[i].path, (size_t)(s - l->v[i].path));

			/* below a read-only directory nothing is renamed */
			if (has(l, above) || !allows(rules_write(l->rules, above)))
				continue;
			if (l->n == COVERS_MAX)
				return too_many(e);
			l->v[l->n++] = (struct cover){ steal_ptr(above), S_IFDIR, true, true, -1 };
		}
	/* parents first */
	qsort(l->v, l->n, sizeof(*l->v), by_path);
	return 0;
}

int cover_rules(struct entering *in, struct err *e)
{
	const struct cover all = { .path = "", .read = true, .write = true };
	struct covers *l;
	auto_fd top = -1;
	int rc, dir;

	if (!in->j->rules.n)
		return 0;
	top = open_beneath(in->root, in->j->ruled + 1, O_PATH | O_DIRECTORY, 0);
	dir = top < 0 ? -1 : openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "cannot open %s", in->j->ruled);
	l = xcalloc(1, sizeof(*l));
	l->rules = &in->j->rules;
	rc = walk(l, dir, &all, 0, e);
	if (!rc)
		rc = pin_parents(l, e);
	for (size_t i = 0; !rc && i < l->n; i++)
		if (attach(in, top, &l->v[i]) < 0)
			rc = err_sys(e, "cannot cover %s", l->v[i].path);
	/* after the mount points in them were made */
	for (size_t i = 0; !rc && i < l->n; i++)
		if (!l->v[i].read && mount_readonly(l->v[i].fd) < 0)
			rc = err_sys(e, "cannot make %s read-only", l->v[i].path);
	covers_free(l);
	return rc;
}

static bool is_there(const struct entering *in, const char *path)
{
	auto_fd fd = open_beneath(in->upper, path, O_PATH | O_NOFOLLOW, 0);

	for (size_t i = 0; fd < 0 && i < in->j->lowers.n; i++)
		fd = open_beneath(in->lowers[i], path, O_PATH | O_NOFOLLOW, 0);
	return fd >= 0 || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP);
}

/* Whether the topmost layer with the path has something there that is not a directory, or marks it as removed. */
static bool is_no_dir(const struct entering *in, const char *path)
{
	auto_fd fd = open_beneath(in->upper, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	for (size_t i = 0; fd < 0 && i < in->j->lowers.n; i++)
		fd = open_beneath(in->lowers[i], path, O_PATH | O_NOFOLLOW, 0);
	return fd >= 0 && (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode));
}

/* Whether a directory on the way to the path is a file or a link in the workspace. A place for the path would hide it:
 * it would look removed, and its removal could be published. */
static bool is_blocked(const struct entering *in, const char *path)
{
	for (const char *s = path; (s = strchr(s, '/')); s++) {
		auto_str above = xstrndup(path, (size_t)(s - path));

		if (is_no_dir(in, above))
			return true;
	}
	return false;
}

/* Another rule may have a FIFO there, or a directory that it needs. Then the shorter name covers the longer one. */
static int make_name(int layer, const char *path, struct err *e)
{
	auto_str above = xstrndup(path, path_base(path) == path ? 0 : (size_t)(path_base(path) - path - 1));
	auto_fd dir = *above ? mkdirs_beneath(layer, above, 0755, (uid_t)-1, (gid_t)-1)
			     : openat(layer, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 && (errno == ENOTDIR || errno == EEXIST))
		return 0;
	if (dir < 0 || (mknodat(dir, path_base(path), S_IFIFO | 0600, 0) < 0 && errno != EEXIST))
		return err_sys(e, "cannot make a place for %s", path);
	return 0;
}

int cover_names(struct entering *in, int layer, bool *ret_any, struct err *e)
{
	for (size_t i = 0; i < in->j->rules.n; i++) {
		const struct rule *r = &in->j->rules.v[i];
		auto_str path = xstrdup(r->glob);
		size_t n = strlen(path);

		if (n && path[n - 1] == '/')
			path[n - 1] = '\0';
		if (!rule_denies(r) || strpbrk(path, "*?[\\") || is_there(in, path) || is_blocked(in, path))
			continue;
		if (make_name(layer, path, e) < 0)
			return -1;
		*ret_any = true;
	}
	return 0;
}
