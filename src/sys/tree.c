#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/dir.h"
#include "sys/fd.h"

#define MAX_PASSES 10

/*
 * Removes a tree of any depth with two descriptors. A directory inside another one is first moved up to the
 * root under a new name, so the tree becomes flat and there is no recursion.
 */
struct flat {
	uint64_t key; /* random, so that a hostile tree cannot have the new names already */
	unsigned n;
	size_t left; /* how many entries may still be removed */
};

static void flat_name(char out[48], const struct flat *f, unsigned i)
{
	snprintf(out, 48, ".rm.%016llx.%u", (unsigned long long)f->key, i);
}

/* Works on a descriptor, so that a symbolic link that is swapped in is not followed. */
void tree_make_movable(int dir, const char *name)
{
	auto_fd fd = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);
	char path[40];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	chmod(path, 0700);
}

static int remove_entry(int root, int dir, const char *name, struct flat *f, struct err *e)
{
	char flat[48];

	f->left--;
	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(e, "cannot remove '%s'", name);
	if (!unlinkat(dir, name, AT_REMOVEDIR) || errno == ENOENT)
		return 0;
	tree_make_movable(dir, name);
	flat_name(flat, f, f->n++);
	return renameat(dir, name, root, flat) < 0 && errno != ENOENT ? err_sys(e, "cannot remove '%s'", name)
								      : 0;
}

/* name "" is the root itself: there, directories that were moved up are skipped. */
static int empty_dir(int root, const char *name, struct flat *f, struct err *e)
{
	auto_fd dir = open_beneath(root, name, O_RDONLY | O_DIRECTORY, 0);
	auto_dir d = NULL;
	char prefix[48];
	struct dirent *ent;
	int copy, rc = 0;

	if (dir < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot open '%s' to remove it", name);
	copy = open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	if (copy < 0 || !(d = fdopendir(copy))) {
		fd_closep(&copy);
		return err_sys(e, "cannot read '%s' to remove it", name);
	}
	snprintf(prefix, sizeof(prefix), ".rm.%016llx.", (unsigned long long)f->key);
	while (!rc && f->left && (errno = 0, ent = readdir(d)))
		if (!dir_is_dot(ent->d_name) && (*name || strncmp(ent->d_name, prefix, strlen(prefix))))
			rc = remove_entry(root, dir, ent->d_name, f, e);
	return rc;
}

/* One pass. Returns 1 if entries were added meanwhile, or if there are more than `max`. */
static int remove_once(int dir, const char *name, size_t max, struct err *e)
{
	auto_fd root = -1;
	struct flat f = { .left = max };

	tree_make_movable(dir, name);
	root = open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
	if (root < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot open '%s' to remove it", name);
	(void)!getrandom(&f.key, sizeof(f.key), 0);
	if (empty_dir(root, "", &f, e) < 0)
		return -1;
	for (unsigned done = 0; done < f.n; done++) {
		char flat[48];

		flat_name(flat, &f, done);
		if (empty_dir(root, flat, &f, e) < 0)
			return -1;
		if (!f.left)
			return 1;
		if (unlinkat(root, flat, AT_REMOVEDIR) < 0 && errno != ENOENT)
			return err_sys(e, "cannot remove '%s'", flat);
	}
	if (!unlinkat(dir, name, AT_REMOVEDIR) || errno == ENOENT)
		return 0;
	return errno == ENOTEMPTY ? 1 : err_sys(e, "cannot remove '%s'", name);
}

int tree_remove_some(int dir, const char *name, size_t max, struct err *e)
{
	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(e, "cannot remove '%s'", name);
	if (!unlinkat(dir, name, AT_REMOVEDIR) || errno == ENOENT)
		return 0;
	return remove_once(dir, name, max, e);
}

int tree_remove(int dir, const char *name, struct err *e)
{
	int rc = 1;

	for (int pass = 0; rc > 0 && pass < MAX_PASSES; pass++)
		rc = tree_remove_some(dir, name, SIZE_MAX, e);
	return rc > 0 ? err_set(e, ERR_BUSY, "cannot remove '%s': files are being added to it", name) : rc;
}

static enum tree_next add_use(const struct tree_entry *t, void *arg, struct err *e)
{
	bool shared = !S_ISDIR(t->st.st_mode) && t->st.st_nlink > 1;
	struct tree_use *u = arg;

	(void)e;
	/* it was counted when fn was first called for it */
	if (t->closed) {
		u->closed++;
		return TREE_ON;
	}
	u->inodes++;
	u->bytes += (TREE_INODE + (uint64_t)t->st.st_blocks * 512) / (shared ? (uint64_t)t->st.st_nlink : 1);
	return TREE_ON;
}

int tree_use(int root, struct tree_use *ret, struct err *e)
{
	*ret = (struct tree_use){ 0 };
	return tree_walk(root, add_use, ret, e);
}

int tree_disk(int dir, const char *name, uint64_t *ret, struct err *e)
{
	auto_fd root = open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
	struct tree_use u;

	if (root < 0)
		return errno == ENOENT ? (*ret = 0, 0) : err_sys(e, "cannot open '%s'", name);
	if (tree_use(root, &u, e) < 0)
		return -1;
	*ret = u.bytes;
	return 0;
}
