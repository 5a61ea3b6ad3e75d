#include "git/worktree.h"

#include <fcntl.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"

int worktree_add(const struct repo *r, const char *path, const char *branch, char **ret_admin, struct err *e)
{
	struct git g = repo_git(r);
	auto_str pointer = path_join(path, ".git");
	auto_buf text = BUF_SMALL;

	if (git_do(&g, NULL, e, "worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason",
		    "in use by garth", "--", path, branch, NULL) < 0)
		return -1;
	if (read_file(AT_FDCWD, pointer, &text, e) < 0)
		return -1;
	if (text.len < 10 || strncmp(text.data, "gitdir: ", 8))
		return err_set(e, ERR_FAILED, "cannot understand '%s'", pointer);
	text.data[strcspn(text.data, "\n")] = '\0';
	*ret_admin = xstrdup(text.data + 8);
	return 0;
}

int worktree_forget(const struct repo *r, const char *path, struct err *e)
{
	struct git g = repo_git(r);

	return git_do(&g, NULL, e, "worktree", "remove", "--force", "--force", "--", path, NULL);
}
