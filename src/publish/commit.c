#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "publish/job.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/refs.h"

#define GC_WAIT_MS 10000

static int record(struct job *j, struct err *e)
{
	json_t *details = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o}", "tip", j->tip, "old", j->old,
		"commits", (json_int_t)j->walk.commits, "files", (json_int_t)j->walk.files, "bytes",
		(json_int_t)j->walk.bytes, "rewrote", !j->forward, "by", audit_text(j->by));

	if (*j->pub->in->within)
		json_object_set_new(details, "submodule", audit_text(j->pub->in->within));
	if (audit_add(j->pub->in->audit, "publish", &j->pub->in->task, details, e) < 0)
		return -1;
	fault("publish-recorded");
	return 0;
}

static int add_snapshot(struct job *j, const char *commit, const char *reason, int64_t commits, struct err *e)
{
	struct snapshot s = { .task_id = j->pub->in->task.id,
		.commit = (char *)commit,
		.reason = (char *)reason,
		.commits = commits };

	return store_snapshot_add(j->pub->in->context.store, &s, e);
}

/* Whether a snapshot is due because of snapshot_every. */
static bool is_every(const struct job *j, int64_t commits)
{
	int64_t every = (int64_t)j->pub->in->context.config.snapshot_every;

	return every && commits / every != j->pub->in->task.commits / every;
}

static int is_kept(struct job *j, const char *commit, bool *ret, struct err *e)
{
	auto_snapshot_list l = { 0 };

	*ret = false;
	if (store_snapshot_list(j->pub->in->context.store, j->pub->in->task.id, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n && !*ret; i++)
		*ret = !strcmp(l.v[i].commit, commit);
	return 0;
}

/* Adds the due snapshots' rows to the store, and the ref update that keeps them to txn. */
static int add_snapshots_due(struct job *j, struct ref_txn *txn, int64_t commits, struct err *e)
{
	bool kept = j->forward;

	if (!j->forward && is_kept(j, j->old, &kept, e) < 0)
		return -1;
	if (!kept && add_snapshot(j, j->old, "rewrite", j->pub->in->task.commits, e) < 0)
		return -1;
	if (is_every(j, commits) && add_snapshot(j, j->tip, "every", commits, e) < 0)
		return -1;
	return refs_keep(&j->pub->in->context, &j->pub->in->at.repo, &j->pub->in->task, txn, e);
}

static int commit_refs(struct job *j, const struct ref_txn *txn, struct err *e)
{
	struct publisher *pub = j->pub;
	struct err again = ERR_INIT;
	char now[OID_SIZE];

	if (!pub->refs && ref_session_open(&pub->in->at.repo, &pub->refs, e) < 0)
		return -1;
	if (!ref_session_commit(pub->refs, txn, e))
		return 0;
	/* the update may have been made although git died */
	return !ref_read(&pub->in->at.repo, pub->in->task.branch, now, &again) && !strcmp(now, j->tip) ? 0
												       : -1;
}

/* The note about files left uncommitted by the last run is out of date after new commits. */
static void forget_rest(struct publisher *pub)
{
	struct err ignored = ERR_INIT;

	if (!pub->in->task.leftover || !*pub->in->task.leftover)
		return;
	store_run_judged(pub->in->context.store, pub->in->task.id, pub->in->task.verdict, "", &ignored);
	pub->in->task.leftover[0] = '\0';
}

static int tell_store(struct job *j, int64_t commits, int64_t bytes, bool begun, struct err *e)
{
	struct store *s = j->pub->in->context.store;
	struct submodule_row row = { .commits = commits, .bytes = bytes };

	if (*j->pub->in->within) {
		snprintf(row.published, sizeof(row.published), "%s", j->tip);
		return store_submodule_set(s, j->pub->in->task.id, j->pub->in->within, &row, e);
	}
	forget_rest(j->pub);
	if (store_task_published(s, j->pub->in->task.id, j->tip, commits, bytes, e) < 0)
		return -1;
	return begun ? store_commit(s, e) : 0;
}

/* A superproject's commits may name commits of the submodule that its branch has no longer: they are kept as long
 * as the task is. */
static int keep_tips(struct job *j, struct ref_txn *txn, struct err *e)
{
	struct inside *in = j->pub->in;
	auto_strvec tips = STRVEC_INIT;

	if (j->creates || (j->forward && !j->moved))
		return 0;
	if (refs_kept(&in->at.repo, &in->task, &tips, e) < 0)
		return -1;
	strvec_push(&tips, j->old);
	if (*in->task.published && strcmp(in->task.published, j->old) &&
		ref_can_name(&in->at.repo, in->task.published))
		strvec_push(&tips, in->task.published);
	return refs_keep_commits(&in->at.repo, &in->task, &tips, txn, e);
}

/* Moves the branch and the ref that keeps snapshots in one transaction. After that the commits are published;
 * if the store cannot be written, that is made up for later. */
static int move(struct job *j, struct err *e)
{
	struct publisher *pub = j->pub;
	struct store *s = pub->in->context.store;
	int64_t commits = (j->lost ? 0 : pub->in->task.commits) + (int64_t)j->walk.commits;
	int64_t bytes = (j->lost ? 0 : pub->in->task.bytes) + (int64_t)j->walk.bytes;
	bool within = *pub->in->within, snapshots = !within && (!j->forward || is_every(j, commits));
	auto_ref_txn txn = REF_TXN_INIT;
	struct err later = ERR_INIT;

	/* a store transaction is needed only if snapshot rows and refs must agree */
	if (snapshots && store_begin(s, e) < 0)
		return -1;
	if (j->creates)
		ref_create(&txn, pub->in->task.branch, j->tip);
	else
		ref_move(&txn, pub->in->task.branch, j->tip, j->old);
	if ((within && keep_tips(j, &txn, e) < 0) ||
		(snapshots && add_snapshots_due(j, &txn, commits, e) < 0) || commit_refs(j, &txn, e) < 0) {
		if (snapshots)
			store_rollback(s);
		return -1;
	}
	fault("publish-moved");
	pub->in->untold = tell_store(j, commits, bytes, snapshots, &later) < 0;
	if (pub->in->untold && snapshots)
		store_rollback(s);
	free(pub->in->task.published);
	pub->in->task.published = xstrdup(j->tip);
	pub->in->task.commits = commits;
	pub->in->task.bytes = bytes;
	fault("publish-stored");
	return 0;
}

/* Whether the user's `git gc` runs in the shared repository. It writes its pid to a file. */
static bool gc_runs(const struct repo *r)
{
	auto_str path = xasprintf("%s/gc.pid", r->git_dir);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;
	long pid;

	if (read_file(AT_FDCWD, path, &text, &ignored) < 0)
		return false;
	pid = strtol(buf_str(&text), NULL, 10);
	return pid > 0 && (!kill((pid_t)pid, 0) || errno != ESRCH);
}

/* A `git gc --prune=now` that read the refs before our branch moved deletes the new objects as garbage. So
 * the move waits for a running one. If one begins at that very moment, the objects, which are still in the
 * quarantine, are added again. */
void wait_for_gc(struct job *j, bool moved)
{
	struct deadline over = deadline_in(GC_WAIT_MS);
	struct err ignored = ERR_INIT;

	while (gc_runs(&j->pub->in->at.repo)) {
		if (moved)
			verifier_keep(j->v, &j->walk.reached, &ignored);
		if (!deadline_sleep(&over, 20))
			break;
	}
	if (moved)
		verifier_keep(j->v, &j->walk.reached, &ignored);
}

static int keep_and_move(struct job *j, struct err *e)
{
	if (j->fresh.n)
		wait_for_gc(j, false);
	if (j->fresh.n && verifier_keep(j->v, &j->walk.reached, e) < 0)
		return -1;
	fault("publish-kept");
	return move(j, e);
}

int publish_commit(struct job *j, struct refusal *no, struct err *e)
{
	struct err ignored = ERR_INIT;
	char now[OID_SIZE];

	if (record(j, e) < 0)
		return -1;
	if (!keep_and_move(j, e))
		return 0;
	if ((e->kind == ERR_CONFLICT || e->kind == ERR_EXISTS) &&
		!ref_read(&j->pub->in->at.repo, j->pub->in->task.branch, now, &ignored) && *now &&
		strcmp(now, j->old))
		return refuse_moved(j, now, no, e);
	audit_add(j->pub->in->audit, "publish-failed", &j->pub->in->task,
		json_pack("{s:s, s:o}", "tip", j->tip, "why", audit_text(e->msg)), &ignored);
	return -1;
}
