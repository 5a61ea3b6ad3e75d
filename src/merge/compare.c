#include "merge/compare.h"

#include "base/alloc.h"
#include "git/ref.h"
#include "merge/git_commands.h"
#include "merge/merge.h"

int compare_open_repo(struct context *c, const struct task *t, struct repo *ret, struct err *e)
{
	auto_project p = { 0 };

	if (store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	return repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, ret, e);
}

int compare_read_target(const struct repo *r, const struct task *t, char out[OID_SIZE], struct err *e)
{
	static const char *const remotes[] = { "local", "origin" };
	const char *branch = t->target + strlen("refs/heads/");

	*out = '\0';
	for (size_t i = 0; backend_of(t)->follows_remote && i < ARRAY_SIZE(remotes) && !*out; i++) {
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
	auto_repo r = { 0 };

	if (!*t->target)
		return err_set(e, ERR_NOTFOUND, "task '%s' has no target", t->name);
	if (context_store(c, e) < 0 || compare_open_repo(c, t, &r, e) < 0 ||
		compare_read_target(&r, t, ret->target, e) < 0)
		return -1;
	ret->ahead = ret->behind = 0;
	if (!strcmp(tip, ret->target))
		return 0;
	if (!store_compared(c->store, "ahead_behind", tip, ret->target, &known, e) &&
		sscanf(known, "%zu %zu", &ret->ahead, &ret->behind) == 2)
		return 0;
	if (verb_divergence(&r, tip, ret->target, &ret->ahead, &ret->behind, e) < 0)
		return -1;
	found = xasprintf("%zu %zu", ret->ahead, ret->behind);
	return store_set_compared(c->store, "ahead_behind", tip, ret->target, found, e);
}
