#include "merge/git_commands.h"

#include "base/alloc.h"
#include "git/lfs.h"
#include "git/neutral.h"
#include "merge/links.h"
#include "sys/fd.h"

static struct git in_git_dir(const struct repo *r)
{
	return (struct git){ .dir = r->git_dir, .cwd = r->git_dir, .work_tree = r->submodule ? "/" : NULL };
}

/* The id at the beginning of git's output. */
static int take_oid(const struct repo *r, const struct buf *out, char oid[OID_SIZE], struct err *e)
{
	return oid_take(buf_str(out), r->hash_len, oid)
		       ? 0
		       : err_set(e, ERR_FAILED, "cannot understand git's answer");
}

/* Splits the output; each string ends in the separator. */
static void split(const struct buf *out, size_t from, char separator, struct strvec *ret)
{
	for (size_t at = from; at < out->len;) {
		const char *p = out->data + at, *end = memchr(p, separator, out->len - at);
		size_t n = end ? (size_t)(end - p) : out->len - at;

		strvec_pushn(ret, p, n);
		at += n + 1;
	}
}

int verb_divergence(
	const struct repo *r, const char *a, const char *b, size_t *only_a, size_t *only_b, struct err *e)
{
	auto_str range = xasprintf("%s...%s", a, b);
	struct git g = in_git_dir(r);
	auto_buf out = BUF_SMALL;

	if (git_do(&g, &out, e, "rev-list", "--left-right", "--count", range, "--", NULL) < 0)
		return -1;
	if (sscanf(buf_str(&out), "%zu %zu", only_a, only_b) != 2)
		return err_set(e, ERR_FAILED, "cannot understand git's answer");
	return 0;
}

int verb_tree(const struct repo *r, const char *commit, char tree[OID_SIZE], struct err *e)
{
	auto_str name = xasprintf("%s^{tree}", commit);
	struct git g = in_git_dir(r);
	auto_buf out = BUF_SMALL;

	if (git_do(&g, &out, e, "rev-parse", "--verify", "--end-of-options", name, NULL) < 0)
		return -1;
	return take_oid(r, &out, tree, e);
}

int verb_is_ancestor(const struct repo *r, const char *a, const char *b, bool *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = in_git_dir(r);
	int code;

	strvec_pushl(&args, "merge-base", "--is-ancestor", a, b, NULL);
	if (git_try(&g, &args, NULL, NULL, NULL, &code, e) < 0)
		return -1;
	if (code > 1)
		return err_set(e, ERR_FAILED, "git cannot compare %.12s and %.12s", a, b);
	*ret = !code;
	return 0;
}

/* `out` gets the tree and, if it returns 1, what is in conflict. */
static int merge_tree(
	const struct repo *r, const char *ours, const char *theirs, struct buf *out, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf errtext = BUF_SMALL;
	auto_neutral p = NEUTRAL_INIT;
	int code;

	/* without merge drivers, which attributes could choose from the repository's configuration */
	if (neutral_open(r, r->git_dir, &p, e) < 0)
		return -1;
	strvec_pushl(&args, "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs, NULL);
	if (git_try(&p.git, &args, NULL, out, &errtext, &code, e) < 0)
		return -1;
	if (code > 1 && strstr(buf_str(&errtext), "unrelated histories"))
		return err_set(e, ERR_REFUSED, "they have no commit in common");
	if (code > 1 && repo_is_partial(r))
		return repo_refuse_missing(r, NULL, "a file that the merge has to read", e);
	if (code > 1)
		return err_set(e, ERR_FAILED, "git merge-tree: %.*s", (int)strcspn(buf_str(&errtext), "\n"),
			buf_str(&errtext));
	return code;
}

int verb_merge_tree(const struct repo *r, const char *ours, const char *theirs, char tree[OID_SIZE],
	struct strvec *conflicts, struct err *e)
{
	char sides[2][OID_SIZE];

	snprintf(sides[0], OID_SIZE, "%s", ours);
	snprintf(sides[1], OID_SIZE, "%s", theirs);
	/* the second time with submodules that git could not decide about */
	for (int again = 0;; again++) {
		auto_buf out = BUF_INIT(64 << 20);
		int code = merge_tree(r, sides[0], sides[1], &out, e), more;

		if (code < 0 || take_oid(r, &out, tree, e) < 0)
			return -1;
		strvec_release(conflicts);
		if (!code)
			return 0;
		more = links_merge(r, &out, strlen(tree) + 1, sides[0], sides[1], conflicts, e);
		if (more < 0)
			return -1;
		if (!more || again)
			return 1;
	}
}

int verb_own_paths(
	const struct repo *r, const char *target, const char *tip, struct strvec *ret, struct err *e)
{
	auto_str range = xasprintf("%s...%s", target, tip);
	auto_buf out = BUF_INIT(64 << 20);
	struct git g = in_git_dir(r);

	if (git_do(&g, &out, e, "diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", range, "--",
		    NULL) < 0)
		return -1;
	split(&out, 0, '\0', ret);
	return 0;
}

int verb_committer(const struct repo *r, char **ret, struct err *e)
{
	struct git g = { .dir = r->git_dir, .cwd = r->git_dir, .user_config = true };
	auto_buf out = BUF_SMALL;

	if (git_do(&g, &out, e, "-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT", NULL) < 0)
		return err_set(e, ERR_FAILED, "git does not know the user's name and mail address"),
		       err_hint(e, "git config --global user.name NAME; git config --global user.email MAIL");
	buf_cut(&out, strcspn(buf_str(&out), "\n"));
	*ret = buf_steal(&out);
	return 0;
}

int verb_commits(const struct repo *r, const char *old, const char *tip, struct strvec *ret, struct err *e)
{
	auto_str not_old = xasprintf("^%s", old);
	struct git g = in_git_dir(r);
	auto_buf out = BUF_INIT(64 << 20);

	if (git_do(&g, &out, e, "rev-list", "--reverse", "--topo-order", "--no-merges", tip, not_old, "--",
		    NULL) < 0)
		return -1;
	split(&out, 0, '\n', ret);
	return 0;
}

int verb_subjects(const struct repo *r, const char *old, const char *tip, struct strvec *ret, struct err *e)
{
	auto_str not_old = xasprintf("^%s", old);
	struct git g = in_git_dir(r);
	auto_buf out = BUF_INIT(64 << 20);

	if (git_do(&g, &out, e, "rev-list", "--reverse", "--topo-order", "--no-merges", "--no-commit-header",
		    "--format=%s", tip, not_old, "--", NULL) < 0)
		return -1;
	split(&out, 0, '\n', ret);
	return 0;
}

int verb_read_commit(const struct repo *r, const char *oid, struct buf *out, struct err *e)
{
	struct git g = in_git_dir(r);

	return git_do(&g, out, e, "cat-file", "commit", oid, NULL);
}

int verb_write_commit(const struct repo *r, const struct buf *text, char oid[OID_SIZE], struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = in_git_dir(r);
	auto_buf out = BUF_SMALL;

	if (text->overflow)
		return err_set(e, ERR_FAILED, "a commit's message is too long");
	strvec_pushl(&args, "hash-object", "-t", "commit", "-w", "--stdin", NULL);
	return git_run(&g, &args, text, &out, e) < 0 ? -1 : take_oid(r, &out, oid, e);
}

static int run_at(const struct git *g, struct strvec *args, const struct buf *input, struct buf *out,
	int *ret_code, struct err *e)
{
	auto_strvec all = STRVEC_INIT;

	strvec_pushl(&all, "-c", "core.splitIndex=false", "--literal-pathspecs", NULL);
	strvec_pushv(&all, (const char *const *)args->v);
	return ret_code ? git_try(g, &all, input, out, NULL, ret_code, e) : git_run(g, &all, input, out, e);
}

/* The user may have configured a split index; the one made here is complete. No filters are run. */
static int at_place(const struct verb_place *p, struct strvec *args, const struct buf *input, struct buf *out,
	int *ret_code, struct err *e)
{
	auto_neutral plain = NEUTRAL_INIT;

	if (neutral_open_files(p->repo, p->git_dir, true, &plain, e) < 0)
		return -1;
	plain.git.work_tree = p->work_tree;
	plain.git.index = p->index;
	if (p->work_tree)
		plain.git.cwd = p->work_tree;
	return run_at(&plain.git, args, input, out, ret_code, e);
}

int verb_unsplit(const struct verb_place *p, struct err *e)
{
	/* the shared index file is in the git directory */
	struct git g = { .dir = p->git_dir, .index = p->index };
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "update-index", "--no-split-index", NULL);
	return run_at(&g, &args, NULL, NULL, NULL, e);
}

/* The patterns that git folds by are in the git directory. It looks for files that should not be there. */
int verb_fold(const struct verb_place *p, bool fold, struct err *e)
{
	struct git g = {
		.dir = p->git_dir, .index = p->index, .work_tree = p->work_tree, .cwd = p->work_tree
	};
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "-c", fold ? "index.sparse=true" : "index.sparse=false", "update-index",
		"--force-write-index", NULL);
	return run_at(&g, &args, NULL, NULL, NULL, e);
}

int verb_is_sparse(const char *git_dir, bool *ret, struct err *e)
{
	struct git g = { .dir = git_dir };
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_SMALL;
	int code;

	strvec_pushl(&args, "config", "--bool", "core.sparseCheckout", NULL);
	if (git_try(&g, &args, NULL, &out, NULL, &code, e) < 0)
		return -1;
	*ret = !code && !strcmp(buf_str(&out), "true\n");
	return 0;
}

int verb_skip(const struct verb_place *p, const struct buf *paths, struct err *e)
{
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "update-index", "--skip-worktree", "-z", "--stdin", NULL);
	return at_place(p, &args, paths, NULL, NULL, e);
}

int verb_changed(const struct verb_place *p, const struct strvec *paths, struct strvec *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT, all = STRVEC_INIT;
	auto_buf out = BUF_INIT(64 << 20);

	strvec_pushl(&args, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=all", "--", NULL);
	for (size_t i = 0; paths->n <= VERB_PATHS_MAX && i < paths->n; i++)
		strvec_push(&args, paths->v[i]);
	if (at_place(p, &args, NULL, &out, NULL, e) < 0)
		return -1;
	split(&out, 0, '\0', &all);
	for (size_t i = 0; i < all.n; i++)
		if (strvec_has(paths, all.v[i]))
			strvec_push(ret, all.v[i]);
	return 0;
}

int verb_index_info(const struct verb_place *p, const struct buf *entries, struct err *e)
{
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "update-index", "-z", "--index-info", NULL);
	return at_place(p, &args, entries, NULL, NULL, e);
}

int verb_write_files(const struct verb_place *p, const struct buf *paths, struct err *e)
{
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "checkout-index", "-z", "--stdin", NULL);
	return at_place(p, &args, paths, NULL, NULL, e);
}

/* Not after `git lfs install --skip-smudge`. */
static int user_has_lfs(const struct verb_place *p, bool *ret, struct err *e)
{
	struct git g = { .dir = p->git_dir, .shows_config = true };
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_INIT(1 << 20);
	int code;

	strvec_pushl(
		&args, "config", "--includes", "--get-regexp", "^filter\\.lfs\\.(smudge|process)$", NULL);
	if (git_try(&g, &args, NULL, &out, NULL, &code, e) < 0)
		return -1;
	*ret = !code && !strstr(buf_str(&out), "--skip");
	return 0;
}

int verb_fill_lfs(const struct verb_place *p, const struct buf *paths, struct strvec *filled, struct err *e)
{
	auto_fd store = lfs_open_store(p->repo);
	auto_neutral plain = NEUTRAL_INIT;
	bool on;

	if (store < 0)
		return 0;
	if (user_has_lfs(p, &on, e) < 0)
		return -1;
	if (!on)
		return 0;
	if (neutral_open_files(p->repo, p->git_dir, true, &plain, e) < 0)
		return -1;
	plain.git.index = p->index;
	return lfs_fill(p->repo, &plain.git, p->work_tree, paths, filled, e);
}

int verb_refresh(const struct verb_place *p, const struct buf *paths, size_t n, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	int code;

	/* the exit code only says that some file differs */
	if (n > VERB_PATHS_MAX) {
		strvec_pushl(&args, "update-index", "-q", "--ignore-submodules", "--refresh", NULL);
		return at_place(p, &args, NULL, NULL, &code, e);
	}
	strvec_pushl(&args, "add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul", NULL);
	return at_place(p, &args, paths, NULL, &code, e);
}
