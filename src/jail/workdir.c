#include "jail/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/linux.h"
#include "sys/tree.h"

/* Short commands may end before workdir_tidy has removed everything. When this many are left, they are removed
 * first. */
#define MANY 16

/* Names that overlayfs creates in its work directory. */
static bool is_in_use(const char *name)
{
	return !strcmp(name, "work") || !strcmp(name, "index") || name[0] == '.';
}

static int open_work(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void tidy(int at, const char *path)
{
	int fd = open_work(at, path);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct err ignored;

	while (d && (entry = readdir(d)))
		if (!is_in_use(entry->d_name))
			tree_remove(dirfd(d), entry->d_name, &ignored);
	if (d)
		closedir(d);
}

static int renew(int at, const char *path, struct err *e)
{
	auto_fd dir = open_work(at, path);

	if (dir < 0)
		return err_sys(e, "cannot open %s", path);
	for (unsigned n = 0;; n++) {
		char old[32];

		snprintf(old, sizeof(old), "old-%u", n);
		if (!renameat2(dir, "work", dir, old, RENAME_NOREPLACE) || errno == ENOENT)
			return 0;
		if (errno != EEXIST || n > 10000)
			return err_sys(e, "cannot set %s/work aside", path);
		if (n == MANY)
			tidy(at, path);
	}
}

int workdir_renew(const struct jail *j, struct err *e)
{
	auto_fd caches = j->caches ? open(j->caches, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (j->work && renew(AT_FDCWD, j->work, e) < 0)
		return -1;
	for (size_t i = 0; i < j->nrows; i++) {
		auto_str work = j->rows[i].layer ? path_join(j->rows[i].layer, "work") : NULL;

		if (work && renew(caches, work, e) < 0)
			return -1;
	}
	return 0;
}

void workdir_tidy(const struct jail *j)
{
	auto_fd caches = j->caches ? open(j->caches, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (j->work)
		tidy(AT_FDCWD, j->work);
	for (size_t i = 0; i < j->nrows; i++) {
		auto_str work = j->rows[i].layer ? path_join(j->rows[i].layer, "work") : NULL;

		if (work)
			tidy(caches, work);
	}
}
