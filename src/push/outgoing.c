#include "push/outgoing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "git/blob.h"
#include "git/checkout.h"
#include "git/lfs.h"
#include "git/ref.h"
#include "git/run.h"
#include "sys/fd.h"

int outgoing_except(
	const struct repo *r, const char *remote, const char *base, struct strvec *ret, struct err *e)
{
	auto_str prefix = xasprintf("refs/remotes/%s/", remote);
	auto_buf list = BUF_INIT(64 << 20);

	if (ref_list(r, prefix, &list, e) < 0)
		return -1;
	if (list.len)
		strvec_pushf(ret, "--remotes=%s", remote);
	else
		strvec_push(ret, base);
	return 0;
}

/* Not `git log`: settings of the repository can make it run programs (log.showSignature). */
int outgoing_changes(
	const struct repo *r, const char *tip, const struct strvec *except, struct buf *raw, struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_strvec args = STRVEC_INIT;
	auto_buf commits = BUF_INIT(OUTGOING_MAX);

	strvec_pushl(&args, "rev-list", tip, "--not", NULL);
	strvec_pushv(&args, (const char *const *)except->v);
	strvec_push(&args, "--");
	if (git_run(&g, &args, NULL, &commits, e) < 0)
		return -1;
	if (!commits.len)
		return 0;
	strvec_release(&args);
	args = (struct strvec)STRVEC_INIT;
	strvec_pushl(&args, "diff-tree", "--stdin", "--root", "-r", "-m", "-z", "--raw", "--no-abbrev",
		"--no-renames", "--no-commit-id", "--ignore-submodules=none", NULL);
	return git_run(&g, &args, &commits, raw, e);
}

static int take_pointer(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct strvec *ret = arg;
	struct lfs_pointer p;

	(void)i;
	(void)e;
	if (lfs_parse(data, len, &p) && !strvec_has(ret, p.oid))
		strvec_push(ret, p.oid);
	return 0;
}

/* The new files that are small enough for a pointer. */
static int list_small(const struct repo *r, const struct buf *raw, struct strvec *ret, struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_strvec files = STRVEC_INIT;
	struct diff_entry d;
	int64_t *sizes;
	size_t at = 0;

	while (diff_next(raw, &at, r->hash_len, &d) > 0)
		if (S_ISREG(d.new_mode))
			strvec_pushn(&files, d.new_oid, 2 * (size_t)r->hash_len);
	if (blob_sizes(&g, &files, &sizes, e) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++)
		if (sizes[i] >= 0 && sizes[i] <= LFS_POINTER_MAX)
			strvec_push(ret, files.v[i]);
	free(sizes);
	return 0;
}

void outgoing_lfs(
	const struct repo *r, const char *remote, const char *base, const char *tip, struct strvec *ret)
{
	auto_strvec except = STRVEC_INIT, small = STRVEC_INIT;
	auto_buf raw = BUF_INIT(OUTGOING_MAX);
	struct git g = repo_git_commits(r);
	auto_fd store = lfs_open_store(r);
	struct err ignored = ERR_INIT;

	if (store < 0 || outgoing_except(r, remote, base, &except, &ignored) < 0 ||
		outgoing_changes(r, tip, &except, &raw, &ignored) < 0 ||
		list_small(r, &raw, &small, &ignored) < 0)
		return;
	blob_read(&g, &small, take_pointer, ret, &ignored);
}
