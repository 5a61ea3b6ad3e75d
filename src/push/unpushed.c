#include "push/unpushed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/checkout.h"
#include "git/reach.h"
#include "git/ref.h"
#include "git/remote.h"
#include "git/run.h"
#include "git/trust.h"
#include "merge/links.h"
#include "push/outgoing.h"

/* How deep submodules may be nested. */
#define DEPTH_MAX 8

/* Where a level of submodules is, seen from the superproject. */
struct level {
	const struct repo *repo;
	const char *path; /* "" for the superproject */
	unsigned depth;
};

/* The submodules that commits beyond `except` move. A commit that names an unpushed one counts even if a later commit
 * names another. */
static int find_moved(
	const struct repo *r, const char *tip, const struct strvec *except, struct links *ret, struct err *e)
{
	auto_buf raw = BUF_INIT(OUTGOING_MAX);
	struct diff_entry d;
	size_t at = 0;
	int got;

	if (outgoing_changes(r, tip, except, &raw, e) < 0)
		return -1;
	while ((got = diff_next(&raw, &at, r->hash_len, &d)) > 0)
		links_note(r, &d, ret);
	return got < 0 ? err_set(e, ERR_FAILED, "cannot understand what git says of the commits to push") : 0;
}

/* Whether a remote's branch reaches the commit. A commit that is not here cannot have been made here. */
static bool is_pushed(const struct repo *sub, const char *commit)
{
	struct git g = repo_git_commits(sub);
	auto_buf out = BUF_SMALL;
	struct err ignored = ERR_INIT;

	return git_do(&g, &out, &ignored, "rev-list", "-1", commit, "--not", "--remotes", "--", NULL) < 0 ||
	       !out.len;
}

/* Asks the remote. A repository whose own settings could run a program, or redirect credentials, is not used for that. */
static bool remote_has(const struct repo *sub, const struct unpushed *u, const char *commit)
{
	auto_ref_txn drop = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	auto_str remote = NULL;
	char tip[OID_SIZE] = "";

	if (remote_choose(sub, NULL, &remote, &ignored) < 0 || !remote || trust_check(sub, &ignored) < 0 ||
		remote_fetch(sub, remote, ref_short(u->branch), u->scratch, tip, &ignored) < 0 || !*tip)
		return false;
	ref_remove(&drop, u->scratch, NULL);
	ref_commit(sub, &drop, &ignored);
	return reach_has(sub, tip, commit);
}

/* A branch that has the commit: the task's, else any. NULL for none. */
static char *find_branch(const struct repo *sub, const char *commit, const char *own)
{
	auto_buf list = BUF_INIT(16 << 20);
	struct git g = repo_git_commits(sub);
	struct err ignored = ERR_INIT;
	size_t n;

	if (git_do(&g, &list, &ignored, "for-each-ref", "--format=%(refname)", "--contains", commit,
		    "refs/heads/", NULL) < 0)
		return NULL;
	for (const char *l = buf_str(&list); *l; l += n + (l[n] == '\n')) {
		n = strcspn(l, "\n");
		if (n == strlen(own) && !strncmp(l, own, n))
			return xstrdup(ref_short(own));
	}
	n = strcspn(buf_str(&list), "\n");
	return n > strlen("refs/heads/")
		       ? xstrndup(list.data + strlen("refs/heads/"), n - strlen("refs/heads/"))
		       : NULL;
}

static int refuse(
	const struct repo *sub, const char *path, const char *commit, const char *own, struct err *e)
{
	auto_str branch = find_branch(sub, commit, own), from = branch ? shell_word(branch) : NULL,
		 where = shell_quoted(sub->git_dir), remote = NULL, to = NULL;
	struct err ignored = ERR_INIT;

	err_set(e, ERR_REFUSED,
		"no remote of submodule '%s' has commit %.12s: whoever fetches the superproject could not get it",
		path, commit);
	if (remote_choose(sub, NULL, &remote, &ignored) < 0 || !remote)
		return err_hint(e, "git --git-dir %s --work-tree / remote add origin URL", where);
	to = shell_word(remote);
	if (from)
		return err_hint(e, "git --git-dir %s --work-tree / push %s %s", where, to, from);
	return err_hint(e, "git --git-dir %s --work-tree / push %s %s:refs/heads/NAME", where, to, commit);
}

static int check_level(const struct level *l, const struct unpushed *u, const char *tip,
	const struct strvec *except, struct err *e);

/* Nested submodules are pushed first. */
static int check_link(
	const struct level *l, const struct unpushed *u, const char *tip, const struct link *k, struct err *e)
{
	auto_str path = *l->path ? path_join(l->path, k->path) : xstrdup(k->path);
	auto_strvec except = STRVEC_INIT;
	auto_repo sub = { 0 };
	struct level below = { .repo = &sub, .path = path, .depth = l->depth + 1 };

	if (l->depth > DEPTH_MAX)
		return 0;
	if (links_open(l->repo, tip, k->path, &sub, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (is_pushed(&sub, k->to) || remote_has(&sub, u, k->to))
		return 0;
	strvec_push(&except, "--remotes");
	if (ref_can_name(&sub, k->from))
		strvec_push(&except, k->from);
	if (check_level(&below, u, k->to, &except, e) < 0)
		return -1;
	return refuse(&sub, path, k->to, u->branch, e);
}

static int check_level(const struct level *l, const struct unpushed *u, const char *tip,
	const struct strvec *except, struct err *e)
{
	auto_links links = { 0 };

	if (find_moved(l->repo, tip, except, &links, e) < 0)
		return -1;
	/* the oldest first: what is nested in its commit must not be hidden by a later one */
	for (size_t i = links.n; i-- > 0;)
		if (check_link(l, u, tip, &links.v[i], e) < 0)
			return -1;
	return 0;
}

/* Without these, no repository of a submodule is here. */
static bool may_have_any(const struct repo *r)
{
	auto_str modules = path_join(r->git_dir, "modules"), list = path_join(r->main_top, ".gitmodules");

	return !access(modules, F_OK) || !access(list, F_OK);
}

/* Whether the user has switched off the same check of git. */
static int is_unwanted(const struct repo *r, bool *ret, struct err *e)
{
	auto_repo with = { 0 };
	const char *value;

	if (repo_read_config(r, &with.config, e) < 0)
		return -1;
	value = repo_config(&with, "push.recursesubmodules");
	return *ret = value && !strcmp(value, "no"), 0;
}

int unpushed_check(const struct repo *r, const struct unpushed *u, struct err *e)
{
	auto_strvec except = STRVEC_INIT;
	struct level top = { .repo = r, .path = "" };
	bool unwanted;

	if (!may_have_any(r))
		return 0;
	if (is_unwanted(r, &unwanted, e) < 0)
		return -1;
	if (unwanted)
		return 0;
	if (outgoing_except(r, u->remote, u->base, &except, e) < 0)
		return -1;
	return check_level(&top, u, u->tip, &except, e);
}
