#include "history/rollback_submodules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "inside/submodule.h"
#include "sys/fault.h"
#include "task/refs.h"

/* The name by which the stash of a rollback is found again. */
#define STASH_NAME "garth: before the rollback, snapshot %lld"

int snapshot_submodules(struct inside *in, int64_t number, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(in->at.ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		struct submodule_row row;
		auto_repo r = { 0 };
		char tip[OID_SIZE];

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (store_submodule(in->context.store, in->task.id, s.v[i].path, &row, e) < 0 ||
			submodule_repo(&in->at.ws, &s.v[i], &r, e) < 0 ||
			ref_read(&r, in->task.branch, tip, e) < 0)
			return -1;
		/* a branch that the task did not make does not belong to it */
		if (*tip && *row.published &&
			store_snapshot_submodule_add(
				in->context.store, in->task.id, number, s.v[i].path, tip, e) < 0)
			return -1;
	}
	return 0;
}

/* Moves the branch in the user's repository of the submodule. Its old commits are kept as long as the task. */
static int move_branch(struct inside *sub, const char *commit, struct err *e)
{
	struct submodule_row row = { .commits = sub->task.commits, .bytes = sub->task.bytes };
	auto_strvec kept = STRVEC_INIT;
	auto_ref_txn txn = REF_TXN_INIT;
	char now[OID_SIZE];

	if (ref_read(&sub->at.repo, sub->task.branch, now, e) < 0)
		return -1;
	if (!*now || !strcmp(now, commit))
		return 0;
	if (refs_kept(&sub->at.repo, &sub->task, &kept, e) < 0)
		return -1;
	strvec_push(&kept, now);
	if (audit_add(sub->audit, "move", &sub->task,
		    json_pack("{s:s, s:s, s:s, s:o}", "old", now, "tip", commit, "by", "rollback",
			    "submodule", audit_text(sub->within)),
		    e) < 0 ||
		refs_keep_commits(&sub->at.repo, &sub->task, &kept, &txn, e) < 0)
		return -1;
	ref_move(&txn, sub->task.branch, commit, now);
	if (ref_commit(&sub->at.repo, &txn, e) < 0)
		return -1;
	fault("rollback-submodule");
	snprintf(row.published, sizeof(row.published), "%s", commit);
	return store_submodule_set(sub->context.store, sub->task.id, sub->within, &row, e);
}

static int stash(struct inside *sub, struct submodules_rollback *r, struct err *e)
{
	auto_str name = xasprintf(STASH_NAME, (long long)r->before);
	auto_buf changes = BUF_INIT(64 << 20);
	int code;

	if (inside_do(sub, &changes, &code, e, "status", "--porcelain",
		    r->full ? "--ignored" : "--ignored=no", "--ignore-submodules=all", NULL) < 0)
		return -1;
	if (!code && !changes.len)
		return 0;
	if (inside_do(sub, NULL, NULL, e, "stash", "push", "-q", r->full ? "--all" : "--include-untracked",
		    "-m", name, NULL) < 0)
		return -1;
	strvec_push(&r->stashed, sub->within);
	return 0;
}

/* Brings back the changes that the undone rollback had put into the stash. */
static int pop(struct inside *sub, const struct snapshot *to, struct err *e)
{
	auto_str name = xasprintf(STASH_NAME, (long long)to->number);
	auto_buf list = BUF_INIT(1 << 20);
	int code;

	if (inside_do(sub, &list, &code, e, "stash", "list", "--format=%gd %gs", NULL) < 0)
		return -1;
	for (const char *l = buf_str(&list); *l; l += strcspn(l, "\n"), l += *l == '\n') {
		size_t len = strcspn(l, "\n");
		auto_str line = xstrndup(l, len), which = xstrndup(l, strcspn(l, " \n"));

		if (len >= strlen(name) && !strcmp(line + len - strlen(name), name))
			return inside_do(sub, NULL, NULL, e, "stash", "pop", "-q", "--index", which, NULL);
	}
	return 0;
}

static int roll_back(struct inside *sub, const char *commit, struct submodules_rollback *r, struct err *e)
{
	if (stash(sub, r, e) < 0 ||
		inside_do(sub, NULL, NULL, e, "symbolic-ref", "HEAD", sub->task.branch, NULL) < 0 ||
		inside_do(sub, NULL, NULL, e, "reset", "-q", "--hard", commit, NULL) < 0 ||
		move_branch(sub, commit, e) < 0)
		return -1;
	return r->undo ? pop(sub, r->to, e) : 0;
}

int rollback_submodules(struct inside *in, struct submodules_rollback *r, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(in->at.ws.dir, &s, e) < 0)
		return -1;
	submodules_find_tips(&in->at.ws, r->to->commit, &s);
	for (size_t i = 0; i < s.n; i++) {
		auto_inside_submodule sub = INSIDE_SUBMODULE_INIT;
		char tip[OID_SIZE] = "";

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (store_snapshot_submodule(
			    in->context.store, in->task.id, r->to->number, s.v[i].path, tip, e) < 0 ||
			inside_submodule_open(in, &s, i, &sub, e) < 0 ||
			roll_back(&sub.in, *tip ? tip : s.v[i].tip, r, e) < 0)
			return err_wrap(e, "submodule '%s'", s.v[i].path);
	}
	return 0;
}
