#include "base/alloc.h"
#include "git/ref.h"
#include "merge/merge.h"
#include "merge/verbs.h"
#include "task/life.h"
#include "task/refs.h"

#define PATHS_SHOWN 5

static int open_repo(struct context *c, const struct task *t, struct repo *ret, struct err *e)
{
	auto_project p = { 0 };

	if (store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	return repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, ret, e);
}

/* A clone comes from the remote and goes there: its target is what was last fetched of it, where that is
 * known. */
static int read_target(const struct repo *r, const struct task *t, char out[OID_LEN], struct err *e)
{
	static const char *const remotes[] = { "local", "origin" };
	const char *branch = t->target + strlen("refs/heads/");

	*out = '\0';
	for (size_t i = 0; workspace_is_clone(t->backend) && i < ARRAY_SIZE(remotes) && !*out; i++) {
		auto_str ref = xasprintf("refs/remotes/%s/%s", remotes[i], branch);

		if (ref_read(r, ref, out, e) < 0)
			return -1;
	}
	if (!*out && ref_read(r, t->target, out, e) < 0)
		return -1;
	return *out ? 0 : err_set(e, ERR_NOTFOUND, "there is no branch '%s'", branch);
}

int merge_divergence(struct context *c, const struct task *t, struct divergence *ret, struct err *e)
{
	const char *tip = *t->published ? t->published : t->base;
	auto_str known = NULL, found = NULL;
	char target[OID_LEN];
	auto_repo r = { 0 };

	if (!*t->target)
		return err_set(e, ERR_NOTFOUND, "task '%s' has no target", t->name);
	if (context_store(c, e) < 0 || open_repo(c, t, &r, e) < 0 || read_target(&r, t, target, e) < 0)
		return -1;
	if (!strcmp(tip, target))
		return *ret = (struct divergence){ 0 }, 0;
	if (!store_compared(c->store, "ahead_behind", tip, target, &known, e) &&
		sscanf(known, "%zu %zu", &ret->ahead, &ret->behind) == 2)
		return 0;
	if (verb_divergence(&r, tip, target, &ret->ahead, &ret->behind, e) < 0)
		return -1;
	found = xasprintf("%zu %zu", ret->ahead, ret->behind);
	return store_set_compared(c->store, "ahead_behind", tip, target, found, e);
}

/* Tasks whose commits may still come to the target. */
static bool counts(const struct task *a, const struct task *b)
{
	return a->id != b->id && a->project_id == b->project_id && *b->published &&
	       strcmp(a->published, b->published) && !b->removed && strcmp(b->state, STATE_MERGED) &&
	       strcmp(b->state, STATE_DISCARDING);
}

/* The paths as one line, "" for none. */
static int find_out(const struct repo *r, const char *a, const char *b, char **ret, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;
	auto_buf line = BUF_SMALL;
	char tree[OID_LEN];

	if (verb_merge_tree(r, a, b, tree, &paths, e) < 0)
		return -1;
	for (size_t i = 0; i < paths.n && i < PATHS_SHOWN; i++)
		buf_printf(&line, "%s%s", i ? ", " : "", paths.v[i]);
	if (paths.n > PATHS_SHOWN)
		buf_printf(&line, " and %zu more", paths.n - PATHS_SHOWN);
	*ret = buf_steal(&line);
	for (char *p = *ret; (p = strchr(p, '\n'));)
		*p = ' ';
	return 0;
}

/* One answer for both ways round. The repository is opened when git has to be asked. */
static int compare_pair(struct context *c, const struct task *t, const struct task *o, struct repo *r,
	char **ret, struct err *e)
{
	bool first = strcmp(t->published, o->published) < 0;
	const char *a = first ? t->published : o->published, *b = first ? o->published : t->published;

	if (!store_compared(c->store, "conflict", a, b, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND || (!r->git_dir && open_repo(c, t, r, e) < 0) ||
		find_out(r, a, b, ret, e) < 0)
		return -1;
	return store_set_compared(c->store, "conflict", a, b, *ret, e);
}

static int compare_all(struct context *c, const struct task *t, const struct task_list *all,
	struct buf *lines, struct err *e)
{
	auto_repo r = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		auto_str paths = NULL;

		if (!counts(t, &all->v[i]))
			continue;
		if (compare_pair(c, t, &all->v[i], &r, &paths, e) < 0)
			return -1;
		if (*paths)
			buf_printf(lines, "%s: %s\n", all->v[i].name, paths);
	}
	return 0;
}

/* The pairs are kept for themselves; beside them, as long as nobody publishes, the answer for all of them. */
int merge_conflicts(struct context *c, const struct task *t, const struct task_list *all, struct strvec *ret,
	struct err *e)
{
	auto_buf others = BUF_INIT(16 << 20), lines = BUF_INIT(16 << 20);
	auto_str known = NULL;
	char set[33], *save = NULL;

	for (size_t i = 0; *t->published && i < all->n; i++)
		if (counts(t, &all->v[i]))
			buf_printf(&others, "%s %s\n", all->v[i].name, all->v[i].published);
	if (!others.len)
		return 0;
	refs_set_name(&c->home, &others, set);
	if (context_store(c, e) < 0)
		return -1;
	if (store_compared(c->store, "conflicts", t->published, set, &known, e) < 0) {
		if (e->kind != ERR_NOTFOUND || compare_all(c, t, all, &lines, e) < 0 ||
			store_set_compared(c->store, "conflicts", t->published, set, buf_str(&lines), e) < 0)
			return -1;
		known = buf_steal(&lines);
	}
	for (char *l = strtok_r(known, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		strvec_push(ret, l);
	return 0;
}
