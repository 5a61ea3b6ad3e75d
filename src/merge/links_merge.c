/* Decides which commit a submodule has after a merge, as git does if it can see the submodule's repository. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "git/gitlinks.h"
#include "git/reach.h"
#include "git/run.h"
#include "merge/git_commands.h"
#include "merge/links.h"

#define TREE_MAX (64u << 20)

/* A path in conflict: its modes and ids in the common ancestor, on our side and on theirs. */
struct unmerged {
	char *path;
	unsigned mode[3];
	char oid[3][OID_SIZE];
};

struct unmerged_list {
	struct unmerged *v;
	size_t n;
};

static void unmerged_release(struct unmerged_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
}

/* "MODE OID STAGE\tPATH"; the stages of a path come one after the other. */
static int read_stages(const struct buf *stages, size_t at, struct unmerged_list *ret, struct err *e)
{
	for (; at < stages->len; at += strlen(stages->data + at) + 1) {
		const char *line = stages->data + at, *path = strchr(line, '\t');
		unsigned mode, stage;
		char oid[OID_SIZE];
		struct unmerged *u;

		if (!path || sscanf(line, "%o %64[0-9a-f] %u", &mode, oid, &stage) != 3 || !stage ||
			stage > 3)
			return err_set(e, ERR_FAILED, "cannot understand git's answer");
		path++;
		if (!ret->n || strcmp(ret->v[ret->n - 1].path, path) != 0) {
			ret->v = xrealloc(ret->v, ret->n + 1, sizeof(*ret->v));
			ret->v[ret->n++] = (struct unmerged){ .path = xstrdup(path) };
		}
		u = &ret->v[ret->n - 1];
		u->mode[stage - 1] = mode;
		snprintf(u->oid[stage - 1], OID_SIZE, "%s", oid);
	}
	return 0;
}

/* The side (1: ours, 2: theirs) that has all commits of the other and of the ancestor; 0 for none. */
static int choose(const struct repo *r, const char *commit, const struct unmerged *u)
{
	struct err ignored = ERR_INIT;
	auto_repo sub = { 0 };

	for (size_t i = 0; i < 3; i++)
		if (u->mode[i] != GITLINK_MODE)
			return 0;
	if (links_open(r, commit, u->path, &sub, &ignored) < 0 || !reach_has(&sub, u->oid[1], u->oid[0]) ||
		!reach_has(&sub, u->oid[2], u->oid[0]))
		return 0;
	return reach_has(&sub, u->oid[1], u->oid[2]) ? 1 : reach_has(&sub, u->oid[2], u->oid[1]) ? 2 : 0;
}

static int make_tree(const struct repo *r, const struct buf *entries, char out[OID_SIZE], struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_strvec args = STRVEC_INIT;
	auto_buf oid = BUF_SMALL;

	strvec_pushl(&args, "mktree", "-z", NULL);
	if (git_run(&g, &args, entries, &oid, e) < 0)
		return -1;
	return oid_take(buf_str(&oid), r->hash_len, out)
		       ? 0
		       : err_set(e, ERR_FAILED, "cannot understand git's answer");
}

/* Makes the tree with the submodule at another commit. `tree` may be a commit. */
static int put(const struct repo *r, const char *tree, const char *path, const char *oid, char out[OID_SIZE],
	struct err *e)
{
	size_t n = strcspn(path, "/");
	auto_buf list = BUF_INIT(TREE_MAX), changed = BUF_INIT(TREE_MAX);
	struct git g = repo_git_commits(r);

	if (git_do(&g, &list, e, "ls-tree", "-z", "--full-tree", tree, NULL) < 0)
		return -1;
	for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1) {
		const char *line = list.data + at, *name = strchr(line, '\t');
		char was[OID_SIZE], now[OID_SIZE];

		if (!name || strlen(name + 1) != n || strncmp(name + 1, path, n)) {
			buf_add(&changed, line, strlen(line) + 1);
			continue;
		}
		if (!path[n]) {
			buf_printf(&changed, "160000 commit %s\t%.*s", oid, (int)n, path);
		} else {
			if (sscanf(line, "%*o tree %64[0-9a-f]", was) != 1)
				return err_set(e, ERR_FAILED, "'%s' is not a directory", path);
			if (put(r, was, path + n + 1, oid, now, e) < 0)
				return -1;
			buf_printf(&changed, "040000 tree %s\t%.*s", now, (int)n, path);
		}
		buf_addch(&changed, '\0');
	}
	if (changed.overflow)
		return err_set(e, ERR_FAILED, "a directory has too many files");
	return make_tree(r, &changed, out, e);
}

/* A commit on top of `side`, with the submodule at another commit. It has the same common ancestors. */
static int put_commit(const struct repo *r, char *side, const char *path, const char *oid, struct err *e)
{
	static const char who[] = "garth <garth@localhost> 0 +0000";
	auto_buf text = BUF_SMALL;
	char tree[OID_SIZE];

	if (put(r, side, path, oid, tree, e) < 0)
		return -1;
	buf_printf(&text, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\nsubmodule\n", tree, side, who, who);
	return verb_write_commit(r, &text, side, e);
}

int links_merge(const struct repo *r, const struct buf *stages, size_t at, char *ours, char *theirs,
	struct strvec *conflicts, struct err *e)
{
	__attribute__((cleanup(unmerged_release))) struct unmerged_list l = { 0 };
	char sides[2][OID_SIZE];
	bool any = false;

	snprintf(sides[0], OID_SIZE, "%s", ours);
	snprintf(sides[1], OID_SIZE, "%s", theirs);
	if (read_stages(stages, at, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		int side = choose(r, ours, &l.v[i]);

		strvec_push(conflicts, l.v[i].path);
		any |= side > 0;
		if (side && put_commit(r, sides[2 - side], l.v[i].path, l.v[i].oid[side], e) < 0)
			return -1;
	}
	if (!any)
		return 0;
	memcpy(ours, sides[0], OID_SIZE);
	memcpy(theirs, sides[1], OID_SIZE);
	return 1;
}
