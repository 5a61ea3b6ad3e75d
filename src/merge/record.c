#include "merge/record.h"

#include <jansson.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "git/ref.h"
#include "task/life.h"

static json_t *details(const struct journal *j)
{
	json_t *o = json_object();

	json_object_set_new(o, "target", audit_text(j->target));
	json_object_set_new(o, "old", audit_text(j->from));
	json_object_set_new(o, "new", audit_text(j->to));
	json_object_set_new(o, "kind", audit_text(j->kind));
	json_object_set_new(o, "checkout", *j->top ? audit_text(j->top) : json_null());
	if (j->links.n)
		json_object_set_new(o, "submodules", journal_links_pack(&j->links));
	return o;
}

static int add_line(struct context *c, const struct journal *j, const char *event, json_t *o, struct err *e)
{
	auto_audit a = NULL;
	auto_task t = { 0 };

	if (context_store(c, e) < 0 || store_task_any(c->store, j->task, &t, e) < 0 ||
		audit_open(c->home.fd, c->store, &a, e) < 0) {
		json_decref(o);
		return -1;
	}
	return audit_add(a, event, &t, o, e);
}

int record_intent(struct context *c, const struct journal *j, struct err *e)
{
	return add_line(c, j, j->deed ? "undo-merge" : "merge", details(j), e);
}

void record_failure(struct context *c, const struct journal *j, const struct err *why)
{
	struct err ignored = ERR_INIT;
	json_t *o = details(j);

	json_object_set_new(o, "error", audit_text(why->kind == ERR_NONE ? "cut short" : why->msg));
	add_line(c, j, j->deed ? "undo-merge-failed" : "merge-failed", o, &ignored);
}

/* Whether the store has the deed already: a crash came after it was added. */
static bool is_known(struct context *c, const struct journal *j, const char *data)
{
	struct err ignored = ERR_INIT;
	auto_deed d = { 0 };

	return !store_deed_last(c->store, j->name, 0, &d, &ignored) && d.task_id == j->task &&
	       !strcmp(d.kind, "merge") && !strcmp(d.data, data);
}

/* Whether the branch has new commits, which were not merged. */
static bool went_on(const struct repo *r, const struct task *t, const struct journal *j)
{
	struct err ignored = ERR_INIT;
	char now[OID_SIZE];

	return j->tip && *j->tip && !ref_read(r, t->branch, now, &ignored) && *now &&
	       strcmp(now, j->tip) != 0;
}

/* If the target is another task's branch: that task has this commit now, as if it had published it. */
static int tell_target(struct context *c, const struct journal *j, const char *commit, struct err *e)
{
	static const char prefix[] = "refs/heads/garth/";
	auto_task t = { 0 };

	if (strncmp(j->target, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	if (store_task_by_name(c->store, j->project, j->target + sizeof(prefix) - 1, &t, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	return store_task_published(
		c->store, t.id, strcmp(commit, t.base) ? commit : "", t.commits, t.bytes, e);
}

static int merged(struct context *c, const struct repo *r, const struct journal *j, struct err *e)
{
	json_t *o = details(j);
	auto_str data = NULL;
	auto_task t = { 0 };

	json_object_set_new(o, "state", audit_text(j->state));
	data = json_dumps(o, JSON_SORT_KEYS);
	json_decref(o);
	if (!data)
		return err_set(e, ERR_FAILED, "cannot write down the merge");
	if (is_known(c, j, data))
		return 0;
	if (store_task_any(c->store, j->task, &t, e) < 0 ||
		store_deed_add(c->store, j->task, "merge", data, NULL, e) < 0)
		return -1;
	if (j->tip && *j->tip && store_landed_add(c->store, j->task, j->tip, j->to, e) < 0)
		return -1;
	/* a merge into another branch than its target does not make it merged */
	return life_allows(t.state, STATE_MERGED) && !went_on(r, &t, j) &&
			       (!*t.target || !strcmp(t.target, j->target))
		       ? life_move(c->store, &t, STATE_MERGED, e)
		       : 0;
}

static int taken_back(struct context *c, const struct journal *j, struct err *e)
{
	auto_task t = { 0 };

	if (store_deed_undone(c->store, j->deed, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (store_task_any(c->store, j->task, &t, e) < 0)
		return -1;
	return !t.removed && !strcmp(t.state, STATE_MERGED) && life_allows(j->state, STATE_MERGED)
		       ? store_task_move(c->store, t.id, STATE_MERGED, j->state, e)
		       : 0;
}

int record_done(struct context *c, const struct repo *r, const struct journal *j, struct err *e)
{
	if (context_store(c, e) < 0 || store_begin(c->store, e) < 0)
		return -1;
	if (!(j->deed ? taken_back(c, j, e) : merged(c, r, j, e)) && !tell_target(c, j, j->to, e) &&
		!store_commit(c->store, e))
		return 0;
	store_rollback(c->store);
	return -1;
}
