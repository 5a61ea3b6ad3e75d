#include "history/sync.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "history/history.h"
#include "publish/inside.h"
#include "publish/pause.h"
#include "publish/publish.h"
#include "history/renew.h"
#include "sys/fault.h"
#include "task/life.h"
#include "task/refs.h"

/* Whether the branch has the target's tip already; asked of the shared repository. */
static bool has_target(struct gate *g, const char *target)
{
	struct git shared = repo_git(&g->at.repo);
	struct err ignored = ERR_INIT;

	return !git_do(&shared, NULL, &ignored, "merge-base", "--is-ancestor", target, g->task.branch, NULL);
}

static int collect_conflicts(struct gate *g, struct strvec *ret, struct err *e)
{
	auto_buf names = BUF_INIT(1 << 20), clean = BUF_INIT(8192);
	int code;

	if (inside_do(g, &names, &code, e, "diff", "--name-only", "--diff-filter=U", "-z", NULL) < 0)
		return -1;
	for (size_t at = 0; at < names.len && ret->n < 1000; at += strlen(names.data + at) + 1) {
		buf_cut(&clean, 0);
		clean_text(&clean, names.data + at, strlen(names.data + at), false);
		strvec_push(ret, buf_str(&clean));
	}
	return 0;
}

/* 1: conflicts, and everything inside is as it was. */
static int bring_in(struct gate *g, bool merge, const char *target, struct strvec *conflicts, struct err *e)
{
	auto_str message =
		xasprintf("Merge %s into task '%s'", g->task.target + strlen("refs/heads/"), g->task.name);
	int code, rc;

	rc = merge ? inside_do(g, NULL, &code, e, "merge", "-q", "--no-edit", "--autostash", "-m", message,
			     target, NULL)
		   : inside_do(g, NULL, &code, e, "rebase", "-q", "--autostash", target, NULL);
	if (rc < 0 || !code)
		return rc;
	if (collect_conflicts(g, conflicts, e) < 0)
		return -1;
	if (inside_do(g, NULL, &code, e, merge ? "merge" : "rebase", "--abort", NULL) < 0)
		return -1;
	return conflicts->n ? 1
			    : err_set(e, ERR_FAILED, "git inside could not bring '%s' in", g->task.target);
}

/* The branch that is checked out inside must be the task's: a claim that only decides whether to try. */
static int check_inside(struct gate *g, struct err *e)
{
	auto_buf head = BUF_INIT(4096);
	int code;

	if (inside_ask(g, &head, &code, e, "symbolic-ref", "-q", "HEAD", NULL) < 0)
		return -1;
	if (code || strncmp(buf_str(&head), g->task.branch, strlen(g->task.branch)))
		return err_set(e, ERR_REFUSED, "task '%s' has another branch checked out", g->task.name);
	return 0;
}

/* Whoever published something that the branch inside does not have would lose it by a rebase; but for a
 * branch that stands on the target already: a sync got that far. Claims, which protect the agent's own work.
 */
static int check_published(struct gate *g, const char *target, struct err *e)
{
	int code = 0;

	if (*g->task.published && inside_do(g, NULL, &code, e, "merge-base", "--is-ancestor",
					  g->task.published, g->task.branch, NULL) < 0)
		return -1;
	if (code &&
		inside_do(g, NULL, &code, e, "merge-base", "--is-ancestor", target, g->task.branch, NULL) < 0)
		return -1;
	if (!code)
		return 0;
	err_set(e, ERR_REFUSED, "the branch inside task '%s' lacks what was published from it", g->task.name);
	return err_hint(e, "garth exec %s -- git merge %.12s", g->task.name, g->task.published);
}

/* The branch has all of the target: that is its base from now on. */
static int follow(struct gate *g, const char *target, struct sync_result *ret, struct err *e)
{
	struct task followed = g->task;
	auto_ref_txn txn = REF_TXN_INIT;

	snprintf(ret->base, sizeof(ret->base), "%s", target);
	if (!strcmp(g->task.base, target))
		return 0;
	/* what it stood on until now is kept before the store forgets it */
	followed.base = (char *)target;
	if (refs_keep(&g->context, &g->at.repo, &followed, &txn, e) < 0 ||
		ref_commit(&g->at.repo, &txn, e) < 0)
		return -1;
	fault("sync-followed");
	if (store_task_rebased(g->context.store, g->task.id, target, g->task.shown, e) < 0)
		return -1;
	return gate_refresh(g, e);
}

int sync_task(struct gate *g, bool merge, struct sync_result *ret, struct strvec *conflicts,
	struct refusal *no, struct err *e)
{
	struct publish_result r = { 0 };
	struct err ignored = ERR_INIT;
	char target[OID_SIZE], tip[OID_SIZE];
	auto_review_left left = { 0 };
	int64_t number;
	int rc;

	if (!*g->task.target)
		return err_set(e, ERR_REFUSED, "task '%s' has no target branch to follow", g->task.name);
	if (ref_read(&g->at.repo, g->task.target, target, e) < 0)
		return -1;
	if (!*target)
		return err_set(e, ERR_NOTFOUND, "the target branch '%s' is gone", g->task.target);
	snprintf(ret->base, sizeof(ret->base), "%s", g->task.base);
	snprintf(ret->tip, sizeof(ret->tip), "%s", *g->task.published ? g->task.published : g->task.base);
	if (has_target(g, target))
		return follow(g, target, ret, e);
	if (check_inside(g, e) < 0 || check_published(g, target, e) < 0 || gate_renew(g, e) < 0 ||
		snapshot_take(g, "sync", "", &number, &left, e) < 0)
		return -1;
	/* it could not be put back as it was */
	if (left.bars.n)
		return err_set(e, ERR_REFUSED, "no snapshot can hold all of task '%s': %s", g->task.name,
			left.why.v[0]);
	fault("sync-snapshot");
	rc = bring_in(g, merge, target, conflicts, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	fault("sync-inside");
	if (publish_find_tip(g, tip, e) < 0 || publish(g, tip, "sync", &r, no, e) < 0) {
		/* the inside must not stand on what nobody took */
		history_restore(g, number, &left, &ignored);
		return -1;
	}
	if (follow(g, target, ret, e) < 0)
		return -1;
	ret->moved = true;
	snprintf(ret->tip, sizeof(ret->tip), "%s", r.tip);
	return 0;
}

static bool is_clean(struct gate *g)
{
	auto_buf changes = BUF_INIT(1 << 20);
	struct err ignored = ERR_INIT;
	int code;

	return !inside_do(g, &changes, &code, &ignored, "status", "--porcelain", NULL) && !code &&
	       !changes.len;
}

/* The same target is not tried twice against the same tip. */
static bool was_tried(struct gate *g, const char *target)
{
	auto_str known = NULL;
	struct err ignored = ERR_INIT;
	const char *tip = *g->task.published ? g->task.published : g->task.base;

	return !store_compared(g->context.store, "sync", tip, target, &known, &ignored);
}

static int note_conflicts(struct gate *g, const char *target, const struct strvec *conflicts, struct err *e)
{
	auto_buf note = BUF_INIT(1000), list = BUF_INIT(4000);
	const char *tip = *g->task.published ? g->task.published : g->task.base;

	for (size_t i = 0; i < conflicts->n && i < 10; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", conflicts->v[i]);
	buf_printf(&note, "conflicts with %s: %s", g->task.target + strlen("refs/heads/"), buf_str(&list));
	if (audit_add(g->audit, "sync-conflict", &g->task,
		    json_pack("{s:s, s:o}", "target", target, "files", audit_text(buf_str(&list))), e) < 0 ||
		store_set_compared(g->context.store, "sync", tip, target, "conflict", e) < 0)
		return -1;
	if (g->context.config.pause_on_conflict && !strcmp(g->task.state, STATE_RUNNING))
		return pause_task(g, buf_str(&note), e);
	return store_task_note(g->context.store, g->task.id, buf_str(&note), e);
}

static bool is_quiet(const struct gate *g)
{
	uint64_t often = g->context.config.rebase_frequency;

	return g->task.changed <=
	       (int64_t)time(NULL) - (int64_t)(often < SYNC_QUIET_SECONDS ? often : SYNC_QUIET_SECONDS);
}

int sync_quiet(struct gate *g, struct err *e)
{
	auto_strvec conflicts = STRVEC_INIT;
	struct sync_result r = { 0 };
	struct refusal no = { 0 };
	char target[OID_SIZE];

	if (!g->context.config.auto_rebase || !*g->task.target || !is_quiet(g))
		return 0;
	if (ref_read(&g->at.repo, g->task.target, target, e) < 0)
		return -1;
	if (!*target || has_target(g, target) || was_tried(g, target) || !is_clean(g))
		return 0;
	if (sync_task(g, false, &r, &conflicts, &no, e) < 0)
		return -1;
	return conflicts.n ? note_conflicts(g, target, &conflicts, e) : 0;
}
