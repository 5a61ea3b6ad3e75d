#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/discover.h"
#include "git/reach.h"
#include "git/ref.h"
#include "merge/followers.h"
#include "sys/fd.h"

/* How deep submodules may be nested. */
#define DEPTH_MAX 8

/* One repository whose submodules are looked at: the superproject, or a submodule that moves with it. */
struct level {
	const struct repo *repo;
	const char *top;  /* its checkout; NULL if there is none */
	const char *path; /* "" for the superproject */
	const char *to;   /* its commit after the move */
	unsigned depth;
};

/* A submodule in the user's checkout. */
struct found {
	struct branch_checkout place;
	struct repo repo;
	char *branch;
	char commit[OID_SIZE];
};

static void found_release(struct found *f)
{
	branch_checkout_release(&f->place);
	repo_release(&f->repo);
	free(f->branch);
}

static void set(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

int follower_head(const struct branch_checkout *p, const struct repo *r, char **ret_branch,
	char commit[OID_SIZE], struct err *e)
{
	auto_str head = path_join(p->admin, "HEAD"), branch = NULL;
	auto_buf text = BUF_SMALL;

	if (read_file(AT_FDCWD, head, &text, e) < 0)
		return -1;
	buf_cut(&text, strcspn(buf_str(&text), "\n"));
	if (!strncmp(buf_str(&text), "ref: ", 5)) {
		branch = xstrdup(text.data + 5);
		if (ref_read(r, branch, commit, e) < 0)
			return -1;
	} else {
		branch = xstrdup("");
		if (!oid_take(buf_str(&text), r->hash_len, commit))
			return err_set(e, ERR_FAILED, "'%s' is broken", head);
	}
	*ret_branch = steal_ptr(branch);
	return 0;
}

/* Whether the checkout has the submodule: then its place and HEAD. */
static int find(const struct level *l, const char *path, bool *ret_there, struct found *ret, struct err *e)
{
	auto_fd top = l->top ? open(l->top, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	auto_str at = l->top ? path_join(l->top, path) : NULL, dot_git = path_join(path, ".git"), real = NULL;
	auto_discovered d = { 0 };
	struct stat st;

	*ret_there = false;
	if (top < 0 || lstat_beneath(top, dot_git, &st) < 0)
		return 0;
	real = canonicalize_file_name(at);
	if (!real || discover(at, &d, e) < 0 || d.bare || strcmp(d.top, real) != 0)
		return err_set(e, ERR_CONFLICT, "'%s' is not a repository that git could use", at);
	ret->place = (struct branch_checkout){ steal_ptr(at), xstrdup(d.git_dir) };
	if (repo_open_git_dir(d.common, ret->place.top, l->repo->hash_len, &ret->repo, e) < 0)
		return -1;
	ret->repo.submodule = true;
	*ret_there = true;
	return follower_head(&ret->place, &ret->repo, &ret->branch, ret->commit, e);
}

/* Names the commit, and the command that brings HEAD to where the superproject has it. If nothing else has the commits
 * of HEAD, they come first. */
static int refuse_head(const struct level *l, const struct link *link, const struct found *f, struct err *e)
{
	auto_str top = shell_quoted(l->top), at = shell_quoted(f->place.top), path = shell_word(link->path);
	bool lost = *f->commit && !*f->branch && !ref_is_reached(&f->repo, f->commit);

	err_set(e, ERR_CONFLICT, "submodule '%s' is at %.12s%s%s in '%s', and not at %.12s", link->path,
		*f->commit ? f->commit : "no commit", *f->branch ? " on branch " : "",
		*f->branch ? ref_short(f->branch) : "", l->top, link->from);
	return lost ? err_hint(e, "git -C %s branch NAME", at)
		    : err_hint(e, "git -C %s submodule update -- %s", top, path);
}

/* A branch only moves forward, and only if no other checkout has it. */
static int check_branch(
	const struct journal *j, const struct link *link, const struct found *f, struct err *e)
{
	auto_str at = shell_quoted(f->place.top);
	auto_branch_checkout p = { 0 };

	if (!*f->branch)
		return 0;
	if (branch_checkout_find(&f->repo, f->branch, &p, e) < 0)
		return err_wrap(e, "branch %s of submodule '%s'", ref_short(f->branch), link->path);
	if (j->deed || reach_has(&f->repo, link->to, link->from))
		return 0;
	return err_set(e, ERR_CONFLICT,
		       "branch %s of submodule '%s' would lose commits: %.12s is not before %.12s",
		       ref_short(f->branch), link->path, link->from, link->to),
	       err_hint(e, "git -C %s switch --detach", at);
}

static int check_has(const struct level *l, const struct link *link, const struct found *f, struct err *e)
{
	auto_str at = shell_quoted(f->place.top), from = NULL;
	struct err ignored = ERR_INIT;
	auto_repo shared = { 0 };

	if (ref_can_name(&f->repo, link->to))
		return 0;
	err_set(e, ERR_CONFLICT, "submodule '%s' in '%s' does not have commit %.12s", link->path, l->top,
		link->to);
	/* a linked worktree has repositories of its own for its submodules */
	if (links_open(l->repo, l->to, link->path, &shared, &ignored) < 0 || !ref_can_name(&shared, link->to))
		return err_hint(e, "git -C %s fetch", at);
	from = shell_quoted(shared.git_dir);
	return err_hint(e, "git -C %s fetch %s %s", at, from, link->to);
}

/* What the merge that is undone did with the submodule; NULL if that is not known. */
static const struct journal_link *before(const struct journal *j, const char *path)
{
	for (size_t i = 0; i < j->was.n; i++)
		if (!strcmp(j->was.v[i].path, path))
			return &j->was.v[i];
	return NULL;
}

static int decide(const struct level *l, const struct journal *j, const struct link *link, const char *path,
	const struct found *f, const char **ret, struct err *e)
{
	const struct journal_link *was = before(j, path);

	*ret = "ahead";
	if (was && !strcmp(was->how, "ahead"))
		return 0;
	if (!strcmp(f->commit, link->to) || (!j->deed && *f->commit && strcmp(f->commit, link->from) &&
						    reach_has(&f->repo, f->commit, link->to)))
		return 0;
	*ret = "moved";
	if (strcmp(f->commit, link->from) || (j->deed && strcmp(f->branch, was ? was->head : "")))
		return refuse_head(l, link, f, e);
	return check_has(l, link, f, e) < 0 || branch_checkout_check(&f->place, NULL, e) < 0
		       ? -1
		       : check_branch(j, link, f, e);
}

static int look(const struct level *l, const struct links *links, struct journal *j, struct err *e);

static int look_below(const struct level *l, const struct link *link, const char *path, const struct found *f,
	struct journal *j, struct err *e)
{
	struct level below = { &f->repo, f->place.top, path, link->to, l->depth + 1 };
	auto_links links = { 0 };

	if (below.depth > DEPTH_MAX)
		return err_set(e, ERR_REFUSED, "submodules are nested more than %d deep", DEPTH_MAX);
	return links_find(&f->repo, link->from, link->to, &links, e) < 0 ? -1 : look(&below, &links, j, e);
}

static int look_at(const struct level *l, const struct link *link, struct journal *j, struct err *e)
{
	__attribute__((cleanup(found_release))) struct found f = { 0 };
	auto_str path = *l->path ? path_join(l->path, link->path) : xstrdup(link->path);
	const char *how = "none";
	struct journal_link *n;
	bool there;

	if (find(l, link->path, &there, &f, e) < 0 || (there && decide(l, j, link, path, &f, &how, e) < 0))
		return -1;
	n = journal_add_link(&j->links);
	set(&n->path, path);
	set(&n->from, link->from);
	set(&n->to, link->to);
	set(&n->how, how);
	if (strcmp(how, "moved") != 0)
		return 0;
	set(&n->head, f.branch);
	set(&n->top, f.place.top);
	set(&n->admin, f.place.admin);
	set(&n->git_dir, f.repo.git_dir);
	return look_below(l, link, path, &f, j, e);
}

static int look(const struct level *l, const struct links *links, struct journal *j, struct err *e)
{
	for (size_t i = 0; i < links->n; i++)
		if (look_at(l, &links->v[i], j, e) < 0)
			return -1;
	return 0;
}

int followers_find(const struct repo *r, const struct branch_checkout *p, const struct links *moved,
	struct journal *j, struct err *e)
{
	struct level l = { r, p->top, "", j->to, 0 };

	journal_links_release(&j->links);
	return look(&l, moved, j, e);
}
