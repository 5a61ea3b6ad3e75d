#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/checkout.h"
#include "git/private.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/tree.h"
#include "workspace/base.h"
#include "workspace/space.h"
#include "workspace/submodules.h"

/* Made like the superproject's repository, with its settings, which the user has chosen for the whole project; but not with
 * its path for hooks, which is the superproject's own. */
static void take_settings(const struct repo *from, struct repo *to)
{
	for (size_t i = 0; i < from->config.n; i++)
		if (strncmp(from->config.v[i], "core.hookspath", 14) != 0)
			strvec_push(&to->config, from->config.v[i]);
	if (from->user_ignores && !to->user_ignores)
		to->user_ignores = xstrdup(from->user_ignores);
}

static int make_private(
	struct workspace *ws, size_t n, const struct repo *r, const char *index, struct err *e)
{
	auto_str path = home_path(ws->home, "tasks/%lld/sub/%zu/git", (long long)ws->task->id, n),
		 pack = NULL;
	auto_fd git = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_buf text = BUF_INIT(1u << 30), alternates = BUF_INIT(1 << 20), none = BUF_SMALL;
	struct private_spec s = { .repo = r,
		.branch = ws->task->branch,
		.commit = r->commit,
		.shown = &none,
		.index = &text,
		.hook = INSIDE_HOOK };
	auto_str number = xasprintf("%zu\n", n);

	if (git < 0)
		return err_sys(e, "cannot open '%s'", path);
	if (read_file(AT_FDCWD, index, &text, e) < 0)
		return -1;
	if (!faccessat(ws->dir, WORKSPACE_IGNORES, F_OK, AT_SYMLINK_NOFOLLOW))
		s.ignores = INSIDE_IGNORES;
	if (!ws->backend->own_objects && !ws->task->strict && private_can_borrow(r)) {
		for (size_t i = 0; i < r->objects.n; i++)
			buf_printf(&alternates, INSIDE_OBJECTS "/s%zu-%zu\n", n, i);
		s.alternates = &alternates;
	}
	if (private_create(git, &s, e) < 0 ||
		write_file(git, SUBMODULE_NUMBER, number, strlen(number), 0644, e) < 0)
		return -1;
	return s.alternates ? 0 : private_fill(path, &s, &pack, e);
}

/* The files, for a backend that has them on the host. */
static int check_out(struct workspace *ws, size_t n, const struct repo *r, struct err *e)
{
	auto_str at = home_path(ws->home, "tasks/%lld/sub/%zu", (long long)ws->task->id, n);
	auto_str tree = path_join(at, "tree"), part = path_join(at, "checkout"),
		 own = path_join(part, "index"), index = path_join(at, "index"),
		 dot_git = path_join(tree, ".git");
	auto_str name = xasprintf("sub/%zu/checkout", n);
	auto_buf text = BUF_INIT(1u << 30);

	if (mkdir(tree, 0755) < 0 || owner_give(AT_FDCWD, tree) < 0 || mkdir(part, 0700) < 0 ||
		owner_give(AT_FDCWD, part) < 0)
		return err_sys(e, "cannot make '%s'", tree);
	if (space_check(ws->home, r, r->commit, e) < 0 || checkout_all(r, r->commit, tree, own, e) < 0 ||
		read_file(AT_FDCWD, own, &text, e) < 0 ||
		write_file(AT_FDCWD, index, text.data, text.len, 0600, e) < 0 ||
		tree_remove(ws->dir, name, e) < 0)
		return -1;
	if (mkdir(dot_git, 0755) < 0 || owner_give(AT_FDCWD, dot_git) < 0)
		return err_sys(e, "cannot make '%s'", dot_git);
	return 0;
}

/* The path of the index that the files have. */
static int make_files(struct workspace *ws, const struct submodule *s, size_t n, const struct repo *r,
	char **ret_index, struct err *e)
{
	auto_base base = { 0 };

	if (ws->backend->on_host) {
		*ret_index = home_path(ws->home, "tasks/%lld/sub/%zu/index", (long long)ws->task->id, n);
		return check_out(ws, n, r, e);
	}
	if (base_get_submodule(ws->home, ws->task->project_id, r, s->path, &base, e) < 0)
		return -1;
	*ret_index = xstrdup(base.index);
	return 0;
}

int submodule_make(struct workspace *ws, const struct submodule *s, size_t n, char **ret_index, struct err *e)
{
	auto_str at = xasprintf("sub/%zu", n), git = xasprintf("sub/%zu/git", n);
	mode_t old = umask(0022);
	auto_repo r = { 0 };
	int rc = -1;

	/* 0711: root's tasks run as another user, who must be able to pass through */
	if ((mkdirat(ws->dir, "sub", 0711) < 0 && errno != EEXIST) || mkdirat(ws->dir, at, 0711) < 0 ||
		mkdirat(ws->dir, git, 0700) < 0 || owner_give(ws->dir, git) < 0)
		err_sys(e, "cannot make '%s' of the task", at);
	else if (!submodule_repo(ws, s, &r, e) && !make_files(ws, s, n, &r, ret_index, e)) {
		ws->submodules_borrow |= r.objects.n > 1;
		take_settings(ws->repo, &r);
		rc = make_private(ws, n, &r, *ret_index, e);
	}
	umask(old);
	return rc;
}
