#include "git/hooks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/named_path.h"
#include "git/trust.h"
#include "sys/fd.h"
#include "sys/owner.h"

/* A hook is a script, but some people use a whole program. */
#define HOOK_MAX  (64u << 20)
#define HOOKS_MAX 1000
#define DEPTH_MAX 3

#define OURS "reference-transaction"

/* The hooks that git runs on the client's side, without the one that Garth uses. */
static const char *const names[] = {
	"applypatch-msg",
	"commit-msg",
	"post-applypatch",
	"post-checkout",
	"post-commit",
	"post-index-change",
	"post-merge",
	"post-rewrite",
	"pre-applypatch",
	"pre-auto-gc",
	"pre-commit",
	"pre-merge-commit",
	"pre-push",
	"pre-rebase",
	"prepare-commit-msg",
};

static int put_hook(int dir, const char *name, const struct buf *text, mode_t mode, struct err *e)
{
	auto_fd fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0 || write_full(fd, buf_str(text), text->len) < 0 || owner_give(fd, "") < 0 ||
		fchmod(fd, mode & 0100 ? 0755 : 0644) < 0)
		return err_sys(e, "cannot write the hook '%s' of the private repository", name);
	return 0;
}

/* What is copied. */
struct copying {
	const struct repo *repo;
	bool users; /* from a directory that the user named: links may lead anywhere */
	size_t n;
};

static bool is_within(const struct repo *r, const char *path)
{
	return path_within(path, r->git_dir) || path_within(path, r->top) || path_within(path, r->main_top);
}

/* A link may lead into the checkout. One that leads elsewhere could bring any of the user's files into the task. */
static int check_link(struct copying *c, int from, const char *name, struct err *e)
{
	auto_str at = xasprintf("/proc/self/fd/%d/%s", from, name), real = NULL;
	struct stat st;

	if (c->users || fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	real = canonicalize_file_name(at);
	/* the checkout may have the Garth home in it */
	if (real && named_path_check(real, "a hook leads to", e) < 0)
		return -1;
	if (!real || is_within(c->repo, real))
		return 0;
	auto_str what = xasprintf("the hook '%s' of '%s'", name, c->repo->main_top);
	return trust_check_outside(c->repo, what, e);
}

static int copy_dir(int from, int to, int depth, struct copying *c, struct err *e);

static int copy_sub(int from, int to, const char *name, int depth, struct copying *c, struct err *e)
{
	auto_fd sub = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), made = -1;

	if (depth >= DEPTH_MAX)
		return 0;
	if (mkdirat(to, name, 0755) < 0 || owner_give(to, name) < 0)
		return err_sys(e, "cannot make '%s' among the hooks of the private repository", name);
	made = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (sub < 0 || made < 0)
		return err_sys(e, "cannot open '%s' among the hooks", name);
	return copy_dir(sub, made, depth + 1, c, e);
}

static bool is_left_out(const char *name, int depth)
{
	size_t n = strlen(name);

	return !strcmp(name, ".") || !strcmp(name, "..") || (n > 7 && !strcmp(name + n - 7, ".sample")) ||
	       (!depth && !strcmp(name, OURS));
}

static int copy_one(int from, int to, const char *name, int depth, struct copying *c, struct err *e)
{
	auto_buf text = BUF_INIT(HOOK_MAX);
	struct stat st;

	/* links are followed, because hooks often point into the checkout; git ignores a broken link too */
	if (is_left_out(name, depth) || fstatat(from, name, &st, 0) < 0)
		return 0;
	if (check_link(c, from, name, e) < 0)
		return -1;
	if (++c->n > HOOKS_MAX)
		return err_set(
			e, ERR_REFUSED, "the repository has more than %d files among its hooks", HOOKS_MAX);
	if (S_ISDIR(st.st_mode))
		return copy_sub(from, to, name, depth, c, e);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (read_file(from, name, &text, e) < 0)
		return err_wrap(e, "cannot carry the hook '%s'", name);
	return put_hook(to, name, &text, st.st_mode, e);
}

static int copy_dir(int from, int to, int depth, struct copying *c, struct err *e)
{
	int fd = fcntl(from, F_DUPFD_CLOEXEC, 3), rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return err_sys(e, "cannot read the hooks");
	}
	while (!rc && (ent = readdir(d)))
		rc = copy_one(from, to, ent->d_name, depth, c, e);
	closedir(d);
	return rc;
}

/* Hooks inside the checkout are files of the workspace and change with it. So a script runs
 * each by its name. */
static int call_in_workspace(int to, const char *path, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_buf text = BUF_SMALL;

		buf_addstr(&text, "#!/bin/sh\n# core.hooksPath of the user's repository\nhook='");
		for (const char *s = path; *s; s++)
			buf_printf(&text, *s == '\'' ? "'\\%c'" : "%c", *s);
		buf_printf(&text, "/%s'\n[ ! -x \"$hook\" ] || exec \"$hook\" \"$@\"\n", names[i]);
		if (put_hook(to, names[i], &text, 0755, e) < 0)
			return -1;
	}
	return 0;
}

/* The part of the path beneath the checkout, else NULL. */
static const char *within(const char *top, const char *path)
{
	size_t n = top ? strlen(top) : 0;

	return n && !strncmp(path, top, n) && path[n] == '/' ? path + n + 1 : NULL;
}

/* Where the user's git finds hooks: a path relative to the checkout, or absolute. The caller frees it. */
static char *find_hooks(const struct repo *r)
{
	const char *set = repo_config(r, "core.hookspath"), *home = getenv("HOME"), *in;

	if (!set || !*set)
		return path_join(r->git_dir, "hooks");
	if (!strncmp(set, "~/", 2) && home)
		return path_join(home, set + 2);
	in = within(r->top, set) ? within(r->top, set) : within(r->main_top, set);
	return xstrdup(in && strncmp(in, ".git/", 5) ? in : set);
}

/* Whether the directory may be used. *ret_users: the user named it, in the global configuration. */
static int check_place(const struct repo *r, const char *path, bool *ret_users, struct err *e)
{
	auto_str real = canonicalize_file_name(path);
	bool own;

	*ret_users = false;
	if (real && named_path_check(real, "the hooks are in", e) < 0)
		return -1;
	if (!real || is_within(r, real))
		return 0;
	if (repo_config(r, "core.hookspath")) {
		if (trust_is_own(r, "core.hookspath", &own, e) < 0)
			return -1;
		*ret_users = !own;
	}
	if (*ret_users)
		return 0;
	auto_str what = xasprintf("the directory of the hooks of '%s' (core.hooksPath)", r->main_top);
	return trust_check_outside(r, what, e);
}

int hooks_put(int dir, const struct repo *r, struct err *e)
{
	auto_str path = find_hooks(r);
	auto_fd to = openat(dir, "hooks", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), from = -1;
	struct copying c = { .repo = r };

	if (to < 0)
		return err_sys(e, "cannot open the hooks of the private repository");
	if (path[0] != '/')
		return call_in_workspace(to, path, e);
	from = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(e, "cannot open '%s'", path);
	return check_place(r, path, &c.users, e) < 0 ? -1 : copy_dir(from, to, 0, &c, e);
}
