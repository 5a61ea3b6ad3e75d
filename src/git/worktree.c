#include "git/worktree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/tree.h"

int worktree_add(const struct repo *r, const char *path, const char *branch, bool shared, char **ret_admin,
	struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);
	auto_str pointer = path_join(path, ".git");
	auto_buf text = BUF_SMALL;

	strvec_pushl(&args, "worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason",
		WORKTREE_REASON, NULL);
	if (shared)
		strvec_push(&args, "--force");
	strvec_pushl(&args, "--", path, branch, NULL);
	if (git_run(&g, &args, NULL, NULL, e) < 0)
		return -1;
	if (read_file(AT_FDCWD, pointer, &text, e) < 0)
		return -1;
	if (text.len < 10 || strncmp(text.data, "gitdir: ", 8))
		return err_set(e, ERR_FAILED, "cannot understand '%s'", pointer);
	text.data[strcspn(text.data, "\n")] = '\0';
	*ret_admin = xstrdup(text.data + 8);
	return 0;
}

int worktree_lock(const struct repo *r, const char *path, struct err *e)
{
	struct git g = repo_git(r);

	return git_do(&g, NULL, e, "worktree", "lock", "--reason", WORKTREE_REASON, "--", path, NULL);
}

void worktree_list_release(struct worktree_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].admin);
		free(l->v[i].path);
		free(l->v[i].head);
		free(l->v[i].reason);
	}
	free(l->v);
	*l = (struct worktree_list){ 0 };
}

/* The first line of a file; the caller frees it. NULL if it cannot be read. */
static char *first_line(int dir, const char *name)
{
	auto_fd fd = open_regular_beneath(dir, name);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	if (fd < 0 || read_rest(fd, &text, name, &ignored) < 0)
		return NULL;
	return xstrndup(buf_str(&text), strcspn(buf_str(&text), "\n"));
}

/* What HEAD's file would say. With refs in a reftable it says nothing, and git is asked. NULL if nobody knows. */
static char *head_line(int dir, const char *admin)
{
	auto_buf name = BUF_SMALL, oid = BUF_SMALL;
	struct git g = { .dir = admin };
	struct err ignored = ERR_INIT;

	if (faccessat(dir, "reftable", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return first_line(dir, "HEAD");
	if (!git_do(&g, &name, &ignored, "symbolic-ref", "-q", "HEAD", NULL))
		return xasprintf("ref: %.*s", (int)strcspn(buf_str(&name), "\n"), buf_str(&name));
	if (git_do(&g, &oid, &ignored, "rev-parse", "-q", "--verify", "HEAD", NULL) < 0)
		return NULL;
	return xstrndup(buf_str(&oid), strcspn(buf_str(&oid), "\n"));
}

/* The worktree's directory, from the path of its .git file. Newer gits may write it
 * relative to the record. */
static char *place_of(const char *admin, char *gitdir)
{
	auto_str joined = gitdir[0] == '/' ? xstrdup(gitdir) : path_join(admin, gitdir), up = NULL;
	size_t n = strlen(joined);

	if (n < 6 || strcmp(joined + n - 5, "/.git"))
		return NULL;
	joined[n - 5] = '\0';
	if (gitdir[0] == '/')
		return steal_ptr(joined);
	up = xstrndup(joined, (size_t)(path_base(joined) - joined));
	auto_str real = canonicalize_file_name(up);
	return real ? path_join(real, path_base(joined)) : NULL;
}

static void read_record(int dir, const char *admin, struct worktree_list *l)
{
	auto_str gitdir = first_line(dir, "gitdir"), head = head_line(dir, admin), path = NULL;
	struct worktree w = { 0 };

	if (!gitdir || !head || !(path = place_of(admin, gitdir)))
		return;
	w.admin = xstrdup(admin);
	w.path = steal_ptr(path);
	w.head = xstrdup(strncmp(head, "ref: ", 5) ? head : head + 5);
	w.reason = first_line(dir, "locked");
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = w;
}

int worktree_list(const struct repo *r, struct worktree_list *ret, struct err *e)
{
	auto_str records = path_join(r->git_dir, "worktrees");
	auto_dir d = opendir(records);
	struct dirent *ent;

	*ret = (struct worktree_list){ 0 };
	if (!d)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read '%s'", records);
	while ((ent = readdir(d))) {
		auto_str admin = path_join(records, ent->d_name);
		auto_fd dir = ent->d_name[0] == '.'
				      ? -1
				      : open_beneath(dirfd(d), ent->d_name, O_RDONLY | O_DIRECTORY, 0);

		if (dir >= 0)
			read_record(dir, admin, ret);
	}
	return 0;
}

/* Removes "gitdir" last: after a crash, the rest of the record is found by it. */
static int drop_record(int records, const char *name, struct err *e)
{
	int fd = open_beneath(records, name, O_RDONLY | O_DIRECTORY, 0);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return err_sys(e, "cannot read the record of worktree '%s'", name);
	while (!rc && (ent = readdir(d)))
		if (!dir_is_dot(ent->d_name) && strcmp(ent->d_name, "gitdir") != 0)
			rc = tree_remove(dirfd(d), ent->d_name, e);
	return rc < 0 ? -1 : tree_remove(records, name, e);
}

static bool stands_at(int records, const char *name, const char *admin, const char *path)
{
	auto_fd dir = open_beneath(records, name, O_RDONLY | O_DIRECTORY, 0);
	auto_str gitdir = dir < 0 ? NULL : first_line(dir, "gitdir");
	auto_str place = gitdir ? place_of(admin, gitdir) : NULL;

	return place && !strcmp(place, path);
}

int worktree_forget(const struct repo *r, const char *path, struct err *e)
{
	auto_str records = path_join(r->git_dir, "worktrees");
	auto_dir d = opendir(records);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read '%s'", records);
	while (!rc && (ent = readdir(d))) {
		auto_str admin = path_join(records, ent->d_name);

		if (!dir_is_dot(ent->d_name) && stands_at(dirfd(d), ent->d_name, admin, path))
			rc = drop_record(dirfd(d), ent->d_name, e);
	}
	/* git does not keep an empty directory either */
	rmdir(records);
	return rc;
}

/* Whether the file's first line is this one. */
static bool says(int dir, const char *name, const char *line)
{
	auto_str got = first_line(dir, name);

	return got && !strcmp(got, line);
}

/* `git rebase --update-refs` moves more branches at its end. */
static bool will_update(int dir, const char *branch)
{
	auto_fd fd = open_regular_beneath(dir, "rebase-merge/update-refs");
	auto_str line = xasprintf("%s\n", branch);
	auto_buf text = BUF_INIT(1 << 20);
	struct err ignored = ERR_INIT;

	return fd >= 0 && !read_rest(fd, &text, "update-refs", &ignored) && strstr(buf_str(&text), line);
}

enum worktree_use worktree_use(const char *admin, const char *branch)
{
	auto_fd dir = open(admin, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str head = dir < 0 ? NULL : head_line(dir, admin), on = xasprintf("ref: %s", branch);

	if (dir < 0)
		return WORKTREE_NO_USE;
	if (head && !strcmp(head, on))
		return WORKTREE_HEAD;
	if (says(dir, "rebase-merge/head-name", branch) || says(dir, "rebase-apply/head-name", branch) ||
		will_update(dir, branch))
		return WORKTREE_REBASE;
	return says(dir, "BISECT_START", branch + strlen("refs/heads/")) ? WORKTREE_BISECT : WORKTREE_NO_USE;
}

/* The path of a linked worktree; if its record does not tell, the path of the record. */
static char *name_linked(const char *admin)
{
	auto_fd dir = open(admin, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str gitdir = dir < 0 ? NULL : first_line(dir, "gitdir");
	char *place = gitdir ? place_of(admin, gitdir) : NULL;

	return place ? place : xstrdup(admin);
}

int worktree_with_branch(const struct repo *r, const char *branch, char **ret, struct err *e)
{
	auto_str records = path_join(r->git_dir, "worktrees");
	auto_dir d = NULL;
	struct dirent *ent;

	*ret = NULL;
	if (worktree_use(r->git_dir, branch)) {
		*ret = xstrdup(r->main_top ? r->main_top : r->git_dir);
		return 0;
	}
	d = opendir(records);
	if (!d)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read '%s'", records);
	while (!*ret && (ent = readdir(d))) {
		auto_str admin = path_join(records, ent->d_name);

		if (!dir_is_dot(ent->d_name) && worktree_use(admin, branch))
			*ret = name_linked(admin);
	}
	return 0;
}
