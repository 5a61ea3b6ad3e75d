#include "merge/branch_checkout.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/named_path.h"
#include "git/worktree.h"
#include "sys/fd.h"

void branch_checkout_release(struct branch_checkout *p)
{
	free(p->top);
	free(p->admin);
	*p = (struct branch_checkout){ 0 };
}

/* The text of a small file without its final line break, or NULL. Paths in it may contain line breaks. */
static char *text_of(const char *dir, const char *name)
{
	auto_str path = path_join(dir, name);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	if (read_file(AT_FDCWD, path, &text, &ignored) < 0)
		return NULL;
	while (text.len && text.data[text.len - 1] == '\n')
		buf_cut(&text, text.len - 1);
	return buf_steal(&text);
}

static bool has_branch(const char *admin, const char *branch)
{
	return worktree_use(admin, branch) == WORKTREE_HEAD;
}

/* Whether the checkout's .git is this git directory, or points to it. */
static bool leads_to(const char *top, const char *admin)
{
	auto_str dot_git = path_join(top, ".git"), line = NULL, named = NULL;
	struct stat a, b;

	if (stat(admin, &a) < 0 || stat(dot_git, &b) < 0)
		return false;
	if (!S_ISDIR(b.st_mode)) {
		line = text_of(top, ".git");
		if (!line || strncmp(line, "gitdir: ", 8))
			return false;
		named = line[8] == '/' ? xstrdup(line + 8) : path_join(top, line + 8);
		if (stat(named, &b) < 0)
			return false;
	}
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* With a detached HEAD, an operation may be in progress that ends on the branch. */
static int check_elsewhere(const char *admin, const char *top, const char *branch, struct err *e)
{
	static const char *const names[] = { [WORKTREE_REBASE] = "rebase", [WORKTREE_BISECT] = "bisect" };
	const char *what = names[worktree_use(admin, branch)];

	auto_str place = shell_quoted(top);

	if (!what)
		return 0;
	return err_set(e, ERR_CONFLICT, "a %s of it is in progress in '%s', which is left alone", what, top),
	       err_hint(e, "git -C %s status", place);
}

static int consider(const char *admin, const char *top, bool linked, const char *branch,
	struct branch_checkout *found, struct err *e)
{
	if (!leads_to(top, admin))
		return 0;
	if (!has_branch(admin, branch))
		return check_elsewhere(admin, top, branch, e);
	/* an agent could put links there while files are written. The repository names only the others. */
	if (linked && named_path_check(top, "it is checked out in", e) < 0)
		return -1;
	if (found->top)
		return err_set(
			e, ERR_CONFLICT, "it is checked out twice, in '%s' and in '%s'", found->top, top);
	found->top = xstrdup(top);
	found->admin = xstrdup(admin);
	return 0;
}

static int consider_linked(const char *worktrees, const char *name, const char *branch,
	struct branch_checkout *found, struct err *e)
{
	auto_str admin = path_join(worktrees, name), line = text_of(admin, "gitdir"), top = NULL;
	size_t n = line ? strlen(line) : 0;

	if (n < 5 || strcmp(line + n - 5, "/.git"))
		return 0;
	line[n - 5] = '\0';
	top = line[0] == '/' ? xstrdup(line) : path_join(admin, line);
	return consider(admin, top, true, branch, found, e);
}

static bool is_bare(const struct repo *r)
{
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;
	auto_buf out = BUF_SMALL;

	return !git_do(&g, &out, &ignored, "config", "--bool", "core.bare", NULL) &&
	       !strcmp(buf_str(&out), "true\n");
}

/* The main checkout. A bare repository has none: its HEAD is on a branch, but there is no index. */
static int consider_main(
	const struct repo *r, const char *branch, struct branch_checkout *found, struct err *e)
{
	auto_str index = path_join(r->git_dir, "index");
	bool there = leads_to(r->main_top, r->git_dir);

	if (has_branch(r->git_dir, branch) && (!there || access(index, F_OK) < 0) && is_bare(r))
		return 0;
	if (!there && has_branch(r->git_dir, branch))
		return err_set(e, ERR_REFUSED, "the checkout of '%s' cannot be found", r->git_dir);
	return consider(r->git_dir, r->main_top, false, branch, found, e);
}

int branch_checkout_find(const struct repo *r, const char *branch, struct branch_checkout *ret, struct err *e)
{
	auto_str worktrees = path_join(r->git_dir, "worktrees");
	auto_branch_checkout found = { 0 };
	struct dirent *ent;
	DIR *d = NULL;
	int rc = consider_main(r, branch, &found, e);

	if (rc < 0)
		return -1;
	d = opendir(worktrees);
	while (d && !rc && (ent = readdir(d)))
		if (ent->d_name[0] != '.')
			rc = consider_linked(worktrees, ent->d_name, branch, &found, e);
	if (d)
		closedir(d);
	if (rc < 0)
		return -1;
	*ret = found;
	found = (struct branch_checkout){ 0 };
	return 0;
}

int branch_checkout_check(const struct branch_checkout *p, const char *branch, struct err *e)
{
	static const struct {
		const char *file, *what;
	} signs[] = {
		{ "MERGE_HEAD", "merge" },
		{ "rebase-merge", "rebase" },
		{ "rebase-apply", "rebase" },
		{ "CHERRY_PICK_HEAD", "cherry-pick" },
		{ "REVERT_HEAD", "revert" },
		{ "sequencer", "cherry-pick or revert" },
		{ "BISECT_LOG", "bisect" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		auto_str path = path_join(p->admin, signs[i].file), place = shell_quoted(p->top);

		if (access(path, F_OK) < 0)
			continue;
		return err_set(e, ERR_CONFLICT, "a %s is in progress in '%s', which is left alone",
			       signs[i].what, p->top),
		       err_hint(e, "git -C %s status", place);
	}
	if (branch && !has_branch(p->admin, branch))
		return err_set(e, ERR_BUSY, "'%s' is being switched to another branch", p->top);
	return 0;
}
