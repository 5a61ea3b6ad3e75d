#include "runtime/left_behind.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/uncommitted.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "workspace/workspace.h"

/* The most entries of a directory of new files that are looked at: more would take too long. */
#define ENTRIES_MAX 2000

static int find(void *arg, struct err *e)
{
	struct left_behind *w = arg;

	return uncommitted_find(w->dir, w->repo, w->answer, e);
}

static void start(const struct repo *r, void *arg)
{
	struct left_behind *w = arg;
	struct err ignored = ERR_INIT;

	w->answer = fd_of_bytes("changes", "", 0);
	w->repo = r;
	free(w->top);
	w->top = xstrdup(r->top);
	if (w->answer >= 0)
		worker_start(&w->git, find, w, &ignored);
	w->repo = NULL;
}

void left_behind_watch(struct left_behind *w, struct task_spec *spec)
{
	w->dir = spec->dir;
	spec->on_checked = start;
	spec->on_checked_arg = w;
}

void left_behind_release(struct left_behind *w)
{
	worker_release(&w->git);
	fd_closep(&w->answer);
	free(steal_ptr(w->top));
}

/* Whether all files beneath a directory of the checkout are among the included ones. `left` limits the work. */
static bool all_included(int top, const char *path, const struct strvec *included, unsigned *left)
{
	int fd = open_beneath(top, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	bool all = d;

	if (!d && fd >= 0)
		close(fd);
	while (all && (ent = readdir(d))) {
		auto_str below = path_join(path, ent->d_name);
		struct stat st;

		if (dir_is_dot(ent->d_name))
			continue;
		if (!*left || !--*left || fstatat(dirfd(d), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return false;
		all = S_ISDIR(st.st_mode) ? all_included(top, below, included, left)
					  : strvec_has(included, below);
	}
	return all;
}

/* git names a directory of new files by one path, which ends in a slash. */
static bool is_included(const struct left_behind *w, const char *path, const struct strvec *included)
{
	size_t n = strlen(path);
	auto_str dir = n && path[n - 1] == '/' ? xstrndup(path, n - 1) : NULL;
	auto_fd top = -1;
	unsigned left = ENTRIES_MAX;

	if (!dir || !included->n)
		return strvec_has(included, path);
	top = open(w->top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return top >= 0 && all_included(top, dir, included, &left);
}

void left_behind_read(
	struct left_behind *w, const struct task *t, const struct strvec *included, struct strvec *ret)
{
	auto_strvec all = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (!backend_of(t)->has_git || !w->git.pid || worker_wait(&w->git, &ignored) < 0 ||
		uncommitted_read(w->answer, &all, &ignored) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (!is_included(w, all.v[i], included))
			strvec_push(ret, all.v[i]);
}
