#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/tree.h"
#include "task/task.h"
#include "workspace/export.h"

/* The directory must be missing or empty: existing files are never touched. */
static int check_target(const char *dir, struct err *e)
{
	struct dirent *ent;
	int others = 0;
	struct stat st;
	DIR *d;

	if (lstat(dir, &st) < 0)
		return errno == ENOENT && *dir ? 0 : err_sys(e, "cannot write to '%s'", dir);
	d = S_ISDIR(st.st_mode) ? opendir(dir) : NULL;
	while (d && (ent = readdir(d)))
		others += strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..");
	if (d)
		closedir(d);
	return d && !others ? 0
			    : err_set(e, ERR_EXISTS, "'%s' is there already and not an empty directory", dir);
}

int task_export(struct context *c, struct task *t, const char *dir, struct export_report *ret, struct err *e)
{
	size_t len = strlen(dir);
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;
	auto_fd parent = -1, out = -1;
	int rc;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	auto_str to = xstrndup(dir, len), part = xasprintf("%s.garth-part", path_base(to));
	auto_str above = xstrndup(to, (size_t)(path_base(to) - to));
	if (check_target(to, e) < 0 || task_open_files(c, t, &at, NULL, e) < 0)
		return -1;
	parent = open(*above ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 || mkdirat(parent, part, 0777) < 0 ||
		(out = openat(parent, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		return err_sys(e, "cannot make '%s%s'", above, part);
	rc = workspace_export(&at.ws, out, ret, e);
	/* rename replaces nothing but an empty directory */
	if (!rc && renameat(parent, part, parent, path_base(to)) < 0)
		rc = err_sys(e, "cannot put '%s' in place", to);
	if (rc < 0)
		tree_remove(parent, part, &ignored);
	return rc;
}
