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

bool walls_can_allow(const struct context *c, const struct task_at *at, const struct walls_opts *o,
	enum rule_kind kind, size_t i)
{
	bool write = kind == RULE_ALLOW_WRITE;
	const char *path = (write ? &c->config.allow_write : &c->config.allow_read)->v[i];
	auto_str real = canonicalize_file_name(path);
	const char *why = why_not(c, at, path, real);

	if (why && o->not_shown)
		strvec_pushf(o->not_shown, "'%s' of jail.%s (%s) is not shown: %s", path,
			write ? "allow_write" : "allow_read",
			(write ? &c->config.allow_write_at : &c->config.allow_read_at)->v[i], why);
	return !why;
}

/* Whether a denial names the path or something below it. Its wildcards are in its last component only
 * (config/check.h). */
static bool denies_beneath(const struct rules *rules, const char *path)
{
	const struct rule *r = rules_read(rules, path);

	if (r && rule_denies(r))
		return true;
	for (size_t i = 0; i < rules->n; i++) {
		const char *glob = rules->v[i].glob;
		size_t n = strcspn(glob, "*?[\\");
		auto_str fixed = NULL;

		if (rules->v[i].kind != RULE_DENY_READ || *glob != '/')
			continue;
		while (glob[n] && n > 1 && glob[n] != '/')
			n--;
		fixed = xstrndup(glob, n);
		if (path_within(fixed, path))
			return true;
	}
	return false;
}

bool hidden_beneath(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(h->paths[i], path))
			return true;
	return h->rules && denies_beneath(h->rules, path);
}

bool is_hidden(const struct hidden *h, const char *path)
{
	const struct rule *denied;

	for (size_t i = 0; i < h->n; i++)
		if (path_within(path, h->paths[i]))
			return true;
	denied = h->rules ? rules_read(h->rules, path) : NULL;
	return denied && rule_denies(denied);
}
