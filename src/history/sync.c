#include "history/sync.h"
#include "history/sync_parts.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "history/rollback.h"
#include "history/snapshot.h"
#include "inside/inside.h"
#include "inside/pause.h"
#include "publish/publish.h"
#include "history/renew.h"
#include "sys/fault.h"
#include "task/life.h"
#include "task/refs.h"
#include "workspace/submodules.h"

/* Whether the branch contains the target's tip, in the shared repository. */
static bool has_target(struct publisher *pub, const char *target)
{
	struct git shared = repo_git(&pub->in->at.repo);
	struct err ignored = ERR_INIT;

	return !git_do(
		&shared, NULL, &ignored, "merge-base", "--is-ancestor", target, pub->in->task.branch, NULL);
}

int sync_conflicts(struct publisher *pub, struct strvec *ret, struct err *e)
{
	auto_buf names = BUF_INIT(1 << 20), clean = BUF_INIT(8192);
	int code;

	if (inside_do(pub->in, &names, &code, e, "diff", "--name-only", "--diff-filter=U", "-z", NULL) < 0)
		return -1;
	for (size_t at = 0; at < names.len && ret->n < 1000; at += strlen(names.data + at) + 1) {
		buf_cut(&clean, 0);
		clean_text(&clean, names.data + at, strlen(names.data + at), false);
		strvec_push(ret, buf_str(&clean));
	}
	return 0;
}

/* 1: conflicts, and the inside is as it was before. */
static int merge_or_rebase(
	struct publisher *pub, bool merge, const char *target, struct strvec *conflicts, struct err *e)
{
	auto_str message = xasprintf(
		"Merge %s into task '%s'", pub->in->task.target + strlen("refs/heads/"), pub->in->task.name);
	int code, rc;

	rc = merge ? inside_do(pub->in, NULL, &code, e, "merge", "-q", "--no-edit", "--autostash", "-m",
			     message, target, NULL)
		   : inside_do(pub->in, NULL, &code, e, "rebase", "-q", "--autostash", target, NULL);
	if (rc < 0 || !code)
		return rc;
	if (sync_conflicts(pub, conflicts, e) < 0)
		return -1;
	if (inside_do(pub->in, NULL, &code, e, merge ? "merge" : "rebase", "--abort", NULL) < 0)
		return -1;
	if (conflicts->n)
		return 1;
	return err_set(e, ERR_FAILED, "git inside could not bring '%s' in", pub->in->task.target);
}

int sync_check_inside(struct publisher *pub, struct err *e)
{
	auto_buf head = BUF_INIT(4096);
	int code;

	if (inside_ask(pub->in, &head, &code, e, "symbolic-ref", "-q", "HEAD", NULL) < 0)
		return -1;
	if (code || strncmp(buf_str(&head), pub->in->task.branch, strlen(pub->in->task.branch)))
		return err_set(
			e, ERR_REFUSED, "task '%s' has another branch checked out", pub->in->task.name);
	return 0;
}

/* If the branch inside lacks published commits, a rebase would lose them. A branch that contains the target
 * is fine: an earlier sync got that far. The answers are claims; they protect only the agent's own work. */
static int check_published(struct publisher *pub, const char *target, struct err *e)
{
	int code = 0;

	if (*pub->in->task.published && inside_do(pub->in, NULL, &code, e, "merge-base", "--is-ancestor",
						pub->in->task.published, pub->in->task.branch, NULL) < 0)
		return -1;
	if (code && inside_do(pub->in, NULL, &code, e, "merge-base", "--is-ancestor", target,
			    pub->in->task.branch, NULL) < 0)
		return -1;
	if (!code)
		return 0;
	err_set(e, ERR_REFUSED, "the branch inside task '%s' lacks what was published from it",
		pub->in->task.name);
	return err_hint(e, "garth exec %s -- git merge %.12s", pub->in->task.name, pub->in->task.published);
}

/* git inside cannot change a file that a rule covers, and would stop half-way. */
static int check_rules(struct publisher *pub, const char *target, struct err *e)
{
	const struct rules *rules = &pub->in->context.config.policy.rules;
	struct git shared = repo_git(&pub->in->at.repo);
	auto_buf names = BUF_INIT(64 << 20), clean = BUF_INIT(8192);

	if (!rules->n)
		return 0;
	if (git_do(&shared, &names, e, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
		    pub->in->task.base, target, NULL) < 0)
		return -1;
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1) {
		const struct rule *r = rules_write(rules, names.data + at);

		if (!r || !rule_denies(r))
			continue;
		clean_text(&clean, names.data + at, strlen(names.data + at), false);
		err_set(e, ERR_REFUSED, "'%s' has changed in the target, and the rule '%s' (%s) covers it",
			buf_str(&clean), r->glob, r->at);
		return err_hint(e, "garth why %s PATH", pub->in->task.name);
	}
	return 0;
}

/* The branch contains all of the target, so the target is its base from now on. */
static int follow(struct publisher *pub, const char *target, struct sync_result *ret, struct err *e)
{
	struct task followed = pub->in->task;
	auto_ref_txn txn = REF_TXN_INIT;

	snprintf(ret->base, sizeof(ret->base), "%s", target);
	if (!strcmp(pub->in->task.base, target))
		return 0;
	/* keep the old base in a ref before the store forgets it */
	followed.base = (char *)target;
	if (refs_keep(&pub->in->context, &pub->in->at.repo, &followed, &txn, e) < 0 ||
		ref_commit(&pub->in->at.repo, &txn, e) < 0)
		return -1;
	fault("sync-followed");
	if (store_task_rebased(pub->in->context.store, pub->in->task.id, target, pub->in->task.shown, e) < 0)
		return -1;
	return inside_refresh(pub->in, e);
}

/* Brings the submodules to the commits that the new tip names, as far as the task's own commits and files there
 * allow it. What git inside answers is a claim, and used inside only. */
static void follow_submodules(struct publisher *pub)
{
	auto_submodules s = { 0 };
	struct err ignored = ERR_INIT;

	if (submodules_load(pub->in->at.ws.dir, &s, &ignored) < 0)
		return;
	for (size_t i = 0; i < s.n; i++) {
		size_t up = submodule_around(&s, i);
		const char *around = up < s.n ? s.v[up].path : ".";
		auto_str name = xasprintf("HEAD:%s", s.v[i].path + (up < s.n ? strlen(around) + 1 : 0));
		auto_buf out = BUF_INIT(4096);
		char commit[OID_SIZE];
		int code = 0;

		if (submodule_is_here(&s.v[i]) &&
			!inside_ask(pub->in, &out, &code, &ignored, "-C", around, "rev-parse", name, NULL) &&
			!code && oid_take(buf_str(&out), pub->in->at.repo.hash_len, commit))
			inside_do(pub->in, NULL, &code, &ignored, "-C", s.v[i].path, "merge", "-q",
				"--ff-only", commit, NULL);
	}
}

int sync_task(struct publisher *pub, bool merge, struct sync_result *ret, struct strvec *conflicts,
	struct refusal *no, struct err *e)
{
	struct publish_result r = { 0 };
	struct err ignored = ERR_INIT;
	char target[OID_SIZE], tip[OID_SIZE];
	auto_review_left left = { 0 };
	int64_t number;
	int rc;

	if (!*pub->in->task.target)
		return err_set(
			e, ERR_REFUSED, "task '%s' has no target branch to follow", pub->in->task.name);
	if (ref_read(&pub->in->at.repo, pub->in->task.target, target, e) < 0)
		return -1;
	if (!*target)
		return err_set(e, ERR_NOTFOUND, "the target branch '%s' is gone", pub->in->task.target);
	snprintf(ret->base, sizeof(ret->base), "%s", pub->in->task.base);
	snprintf(ret->tip, sizeof(ret->tip), "%s",
		*pub->in->task.published ? pub->in->task.published : pub->in->task.base);
	if (has_target(pub, target))
		return follow(pub, target, ret, e);
	if (inside_refuse_blocking(pub->in, e) < 0 || sync_check_inside(pub, e) < 0 ||
		check_published(pub, target, e) < 0 || check_rules(pub, target, e) < 0 ||
		renew_shown(pub->in, e) < 0 || snapshot_take(pub->in, "sync", "", &number, &left, e) < 0)
		return -1;
	/* the snapshot could not restore everything */
	if (left.bars.n)
		return err_set(e, ERR_REFUSED, "no snapshot can hold all of task '%s': %s",
			pub->in->task.name, left.why.v[0]);
	fault("sync-snapshot");
	rc = merge_or_rebase(pub, merge, target, conflicts, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	fault("sync-inside");
	if (publish_find_tip(pub->in, tip, e) < 0 || publish(pub, tip, "sync", &r, no, e) < 0) {
		/* undo the rebase inside, because its result was not published */
		rollback_restore(pub->in, number, &left, &ignored);
		return -1;
	}
	if (follow(pub, target, ret, e) < 0)
		return -1;
	ret->moved = true;
	snprintf(ret->tip, sizeof(ret->tip), "%s", r.tip);
	follow_submodules(pub);
	return 0;
}

static bool is_clean(struct publisher *pub)
{
	auto_buf changes = BUF_INIT(1 << 20);
	struct err ignored = ERR_INIT;
	int code;

	return !inside_do(pub->in, &changes, &code, &ignored, "status", "--porcelain", NULL) && !code &&
	       !changes.len;
}

/* A sync that had conflicts is not repeated for the same target and tip. */
static bool was_tried(struct publisher *pub, const char *target)
{
	auto_str known = NULL;
	struct err ignored = ERR_INIT;
	const char *tip = *pub->in->task.published ? pub->in->task.published : pub->in->task.base;

	return !store_compared(pub->in->context.store, "sync", tip, target, &known, &ignored);
}

static int note_conflicts(
	struct publisher *pub, const char *target, const struct strvec *conflicts, struct err *e)
{
	auto_buf note = BUF_INIT(1000), list = BUF_INIT(4000);
	const char *tip = *pub->in->task.published ? pub->in->task.published : pub->in->task.base;

	for (size_t i = 0; i < conflicts->n && i < 10; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", conflicts->v[i]);
	buf_printf(
		&note, "conflicts with %s: %s", pub->in->task.target + strlen("refs/heads/"), buf_str(&list));
	if (audit_add(pub->in->audit, "sync-conflict", &pub->in->task,
		    json_pack("{s:s, s:o}", "target", target, "files", audit_text(buf_str(&list))), e) < 0 ||
		store_set_compared(pub->in->context.store, "sync", tip, target, "conflict", e) < 0)
		return -1;
	if (pub->in->context.config.pause_on_conflict && !strcmp(pub->in->task.state, STATE_RUNNING))
		return pause_task(pub->in, buf_str(&note), e);
	return store_task_note(pub->in->context.store, pub->in->task.id, buf_str(&note), e);
}

static bool is_quiet(const struct publisher *pub)
{
	uint64_t often = pub->in->context.config.rebase_frequency;

	return pub->in->task.changed <=
	       (int64_t)time(NULL) - (int64_t)(often < SYNC_QUIET_SECONDS ? often : SYNC_QUIET_SECONDS);
}

int sync_quiet(struct publisher *pub, struct err *e)
{
	auto_strvec conflicts = STRVEC_INIT;
	struct sync_result r = { 0 };
	struct refusal no = { 0 };
	char target[OID_SIZE];

	if (!pub->in->context.config.auto_rebase || !*pub->in->task.target || !is_quiet(pub))
		return 0;
	if (ref_read(&pub->in->at.repo, pub->in->task.target, target, e) < 0)
		return -1;
	if (!*target || has_target(pub, target) || was_tried(pub, target) || !is_clean(pub))
		return 0;
	if (sync_task(pub, false, &r, &conflicts, &no, e) < 0)
		return -1;
	return conflicts.n ? note_conflicts(pub, target, &conflicts, e) : 0;
}
