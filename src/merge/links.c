#include "merge/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/checkout.h"
#include "git/gitlinks.h"
#include "git/gitmodules.h"
#include "git/run.h"
#include "workspace/submodules.h"

#define DIFF_MAX (256u << 20)

void links_release(struct links *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct links){ 0 };
}

void links_note(const struct repo *r, const struct diff_entry *d, struct links *l)
{
	struct link n = { 0 };

	if (d->old_mode != GITLINK_MODE || d->new_mode != GITLINK_MODE ||
		!oid_take(d->old_oid, r->hash_len, n.from) || !oid_take(d->new_oid, r->hash_len, n.to))
		return;
	n.path = xstrdup(d->path);
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = n;
}

int links_find(const struct repo *r, const char *from, const char *to, struct links *ret, struct err *e)
{
	auto_buf raw = BUF_INIT(DIFF_MAX);
	struct diff_entry d;
	size_t at = 0;
	int got;

	if (checkout_diff(r, from, to, DIFF_MAX, &raw, e) < 0)
		return -1;
	while ((got = diff_next(&raw, &at, r->hash_len, &d)) > 0)
		links_note(r, &d, ret);
	return got < 0 ? err_set(e, ERR_FAILED, "cannot understand the difference of two commits") : 0;
}

/* The names that the commit's .gitmodules gives; none if it has no such file. */
static void read_names(const struct repo *r, const char *commit, struct strvec *ret)
{
	auto_str name = xasprintf("%s:.gitmodules", commit);
	auto_buf text = BUF_INIT(GITMODULES_MAX);
	struct git g = repo_git_commits(r);
	struct err ignored = ERR_INIT;

	if (!git_do(&g, &text, &ignored, "cat-file", "blob", name, NULL) && !text.overflow)
		gitmodules_parse(buf_str(&text), text.len, ret);
}

int links_open(const struct repo *r, const char *commit, const char *path, struct repo *ret, struct err *e)
{
	auto_str git_dir = NULL, top = path_join(r->main_top, path);
	auto_strvec names = STRVEC_INIT;

	read_names(r, commit, &names);
	if (gitmodules_is_safe(path))
		git_dir = submodule_find_repository(
			r->git_dir, r->main_top, gitmodules_name(&names, path), path);
	if (!git_dir)
		return err_set(e, ERR_NOTFOUND, "the repository of submodule '%s' is not here", path);
	if (repo_open_git_dir(git_dir, top, r->hash_len, ret, e) < 0)
		return err_wrap(e, "submodule '%s'", path);
	ret->submodule = true;
	return 0;
}

/* Whether a branch, a tag or HEAD reaches the commit. Refs of Garth do not count: they go with the task. */
static int look_for(
	const struct repo *sub, const char *commit, bool *ret_there, bool *ret_reached, struct err *e)
{
	struct git g = repo_git_commits(sub);
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_SMALL;
	int code;

	strvec_pushl(&args, "rev-list", "-1", commit, "--not", "--exclude=refs/garth/*", "--all", "--", NULL);
	if (git_try(&g, &args, NULL, &out, NULL, &code, e) < 0)
		return -1;
	*ret_there = !code;
	*ret_reached = !code && !out.len;
	return 0;
}

static int check_one(const struct repo *r, const char *to, const struct link *l, struct err *e)
{
	auto_str top = shell_quoted(r->main_top), path = shell_word(l->path), where = NULL;
	auto_repo sub = { 0 };
	bool there, reached;

	if (links_open(r, to, l->path, &sub, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
		err_set(e, ERR_REFUSED,
			"the repository of submodule '%s' is not here, so nobody has commit %.12s", l->path,
			l->to);
		return err_hint(e, "git -C %s submodule update --init -- %s", top, path);
	}
	if (look_for(&sub, l->to, &there, &reached, e) < 0)
		return -1;
	if (reached)
		return 0;
	where = shell_quoted(sub.git_dir);
	if (!there)
		return err_set(e, ERR_REFUSED, "the repository of submodule '%s' does not have commit %.12s",
			       l->path, l->to),
		       err_hint(e, "git --git-dir %s --work-tree / fetch origin %s", where, l->to);
	return err_set(e, ERR_REFUSED,
		       "no branch of submodule '%s' has commit %.12s, so that git would remove it some day",
		       l->path, l->to),
	       err_hint(e, "git --git-dir %s --work-tree / branch NAME %s", where, l->to);
}

int links_check(const struct repo *r, const char *to, const struct links *l, struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (check_one(r, to, &l->v[i], e) < 0)
			return -1;
	return 0;
}
