#include "task/merged.h"

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "git/reach.h"
#include "git/ref.h"
#include "task/life.h"
#include "workspace/workspace.h"

/* The branch into which the task was last merged, and that branch's commit after the merge; both on the
 * heap. */
static int last_merge(struct context *c, const struct task *t, char **ret_target, char **ret_new)
{
	struct err ignored = ERR_INIT;
	const char *target, *new_oid;
	auto_deed d = { 0 };
	json_t *o;
	int rc;

	if (store_deed_of(c->store, t->id, "merge", &d, &ignored) < 0)
		return -1;
	o = json_loads(d.data, 0, NULL);
	rc = json_unpack(o, "{s:s, s:s}", "target", &target, "new", &new_oid);
	if (!rc) {
		*ret_target = xstrdup(target);
		*ret_new = xstrdup(new_oid);
	}
	json_decref(o);
	return rc;
}

static int add_ref(const struct repo *r, const char *ref, struct strvec *ret, struct err *e)
{
	char oid[OID_SIZE];

	if (ref_read(r, ref, oid, e) < 0)
		return -1;
	if (*oid && !strvec_has(ret, oid))
		strvec_push(ret, oid);
	return 0;
}

int merged_targets(
	struct context *c, const struct repo *r, const struct task *t, struct strvec *ret, struct err *e)
{
	static const char *const remotes[] = { "local", "origin" };
	auto_str target = xstrdup(t->target), into = NULL, was = NULL;

	/* a task without a target belongs to the branch into which it was merged */
	if (!*target && !last_merge(c, t, &into, &was)) {
		free(target);
		target = steal_ptr(into);
	}
	if (!*target)
		return 0;
	if (add_ref(r, target, ret, e) < 0)
		return -1;
	for (size_t i = 0; backend_of(t)->follows_remote && i < ARRAY_SIZE(remotes); i++) {
		auto_str ref = xasprintf("refs/remotes/%s/%s", remotes[i], target + strlen("refs/heads/"));

		if (add_ref(r, ref, ret, e) < 0)
			return -1;
	}
	return 0;
}

static bool reaches(const struct repo *r, const struct strvec *targets, const char *commit)
{
	for (size_t i = 0; i < targets->n; i++)
		if (reach_has(r, targets->v[i], commit))
			return true;
	return false;
}

bool merged_elsewhere(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct strvec *targets)
{
	auto_str target = NULL, was = NULL;
	auto_strvec results = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	store_landed(c->store, t->id, tip, &results, &ignored);
	for (size_t i = 0; i < results.n; i++)
		if (strcmp(results.v[i], tip) && reaches(r, targets, results.v[i]))
			return true;
	/* earlier versions recorded only the deed */
	return !results.n && !strcmp(t->state, STATE_MERGED) && !strcmp(tip, t->published) &&
	       !last_merge(c, t, &target, &was) && (!*t->target || !strcmp(target, t->target)) &&
	       reaches(r, targets, was);
}

bool merged_is(struct context *c, const struct task *t)
{
	auto_strvec targets = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	auto_project p = { 0 };
	auto_repo r = { 0 };
	char tip[OID_SIZE];

	if (context_store(c, &ignored) < 0 ||
		store_project_by_id(c->store, t->project_id, &p, &ignored) < 0 ||
		repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, &r, &ignored) < 0 ||
		merged_targets(c, &r, t, &targets, &ignored) < 0 ||
		ref_read(&r, t->branch, tip, &ignored) < 0)
		return false;
	if (!*tip)
		snprintf(tip, sizeof(tip), "%s", t->published);
	if (!*tip || !strcmp(tip, t->base))
		return false;
	return reaches(&r, &targets, tip) || merged_elsewhere(c, &r, t, tip, &targets);
}
