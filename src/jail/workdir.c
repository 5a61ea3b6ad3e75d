#include "jail/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/fd.h"
#include "sys/linux.h"
#include "sys/tree.h"

/* Names that overlayfs creates in its work directory. */
static bool is_in_use(const char *name)
{
	return !strcmp(name, "work") || !strcmp(name, "index") || name[0] == '.';
}

int workdir_renew(const struct jail *j, struct err *e)
{
	auto_fd dir = -1;

	if (!j->work)
		return 0;
	dir = open(j->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "cannot open %s", j->work);
	for (unsigned n = 0;; n++) {
		char old[32];

		snprintf(old, sizeof(old), "old-%u", n);
		if (!renameat2(dir, "work", dir, old, RENAME_NOREPLACE) || errno == ENOENT)
			return 0;
		if (errno != EEXIST || n > 10000)
			return err_sys(e, "cannot set %s/work aside", j->work);
	}
}

void workdir_tidy(const struct jail *j)
{
	int fd = j->work ? open(j->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct err ignored;

	while (d && (entry = readdir(d)))
		if (!is_in_use(entry->d_name))
			tree_remove(dirfd(d), entry->d_name, &ignored);
	if (d)
		closedir(d);
}
