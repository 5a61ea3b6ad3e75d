#include "doctor/found.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/tree.h"
#include "task/remove.h"

void found_close(struct found *f)
{
	free(f->name);
	lock_drop(&f->lock);
	fd_closep(&f->dir);
	*f = (struct found)FOUND_INIT;
}

int found_open(struct context *c, const char *from, const char *git_dir, struct found *ret, struct err *e)
{
	auto_found f = FOUND_INIT;
	auto_str path = NULL;
	uint32_t key = 0;

	(void)!getrandom(&key, sizeof(key), 0);
	f.name = xasprintf(REMOVE_FOUND "%08x", key);
	path = xasprintf("trash/%s", f.name);
	if (mkdirat(c->home.fd, path, 0700) < 0)
		return err_sys(e, "cannot make '%s/%s'", c->home.path, path);
	f.dir = openat(c->home.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (f.dir < 0 || mkdirat(f.dir, "files", 0700) < 0)
		return err_sys(e, "cannot make '%s/%s'", c->home.path, path);
	/* written first: the directory's time, by which the trash is emptied, does not change later */
	if (lock_take(f.dir, "lock", false, &f.lock, e) < 0 ||
		write_file(f.dir, "from", from, strlen(from), 0600, e) < 0 ||
		(git_dir && write_file(f.dir, "keep", git_dir, strlen(git_dir), 0600, e) < 0))
		return -1;
	*ret = f;
	f = (struct found)FOUND_INIT;
	fault("doctor-found");
	return 0;
}

int found_take(struct found *f, int dir, const char *name, struct err *e)
{
	auto_fd files = openat(f->dir, "files", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int rc = renameat(dir, name, files, name);

	if (rc < 0 && errno == EACCES) {
		tree_make_movable(dir, name);
		rc = renameat(dir, name, files, name);
	}
	return rc < 0 ? err_sys(e, "cannot move '%s' to the trash", name) : 0;
}

void found_drop(struct context *c, struct found *f)
{
	auto_str path = xasprintf("trash/%s", f->name);
	struct err ignored = ERR_INIT;

	if (!unlinkat(f->dir, "files", AT_REMOVEDIR))
		tree_remove(c->home.fd, path, &ignored);
}

int found_move(struct context *c, const char *place, const char *name, const char *git_dir, char **ret,
	struct err *e)
{
	auto_fd dir = openat(c->home.fd, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_str from = home_path(&c->home, "%s/%s", place, name);
	auto_found f = FOUND_INIT;

	if (dir < 0)
		return err_sys(e, "cannot open '%s/%s'", c->home.path, place);
	if (found_open(c, from, git_dir, &f, e) < 0)
		return -1;
	if (found_take(&f, dir, name, e) < 0) {
		found_drop(c, &f);
		return -1;
	}
	*ret = home_path(&c->home, "trash/%s", f.name);
	return 0;
}
