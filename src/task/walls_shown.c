/* The lists of what every task is shown of the host. */
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "task/walls_parts.h"

/* Programs and libraries, read-only. Links stay links. */
const char *const walls_system_paths[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/opt", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew", NULL };

/* What programs ask about the processors (nproc, lscpu, Go, Java, OpenBLAS, jemalloc), read-only. Not
 * /sys/fs/cgroup: its root inside would be the control group of the user's session. */
const char *const walls_sys_paths[] = { "/sys/devices/system/cpu", "/sys/devices/system/node",
	"/sys/kernel/mm/transparent_hugepage", NULL };

static const char *why_not(
	const struct context *c, const struct task_at *at, const char *path, const char *real)
{
	const struct hidden all = {
		{ c->home.path, at->repo.main_top, at->repo.top, at->repo.git_dir, at->task->workspace }, 5
	};
	const struct hidden project = { { at->repo.main_top, at->repo.top, at->task->workspace }, 3 };

	if (!real)
		return "it is not there, or cannot be reached";
	if (path_within(real, c->home.path))
		return "it is in the Garth home";
	if (is_hidden(&project, real))
		return "it is in the project, of which a task has files of its own";
	if (is_hidden(&all, real))
		return "it is in the repository";
	if (path_within(c->user_home, real))
		return "it leads to a directory that holds the home";
	return strcmp(path, real) && hidden_beneath(&all, real)
		       ? "it leads to a directory that holds the project or the Garth home"
		       : NULL;
}

bool walls_can_allow(const struct context *c, const struct task_at *at, const struct walls_opts *o, size_t i)
{
	const char *path = c->config.allow_read.v[i];
	auto_str real = canonicalize_file_name(path);
	const char *why = why_not(c, at, path, real);

	if (why && o->not_shown)
		strvec_pushf(o->not_shown, "'%s' of jail.allow_read (%s) is not shown: %s", path,
			c->config.allow_read_at.v[i], why);
	return !why;
}

bool hidden_beneath(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(h->paths[i], path))
			return true;
	return false;
}

bool is_hidden(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(path, h->paths[i]))
			return true;
	return false;
}
