#include "gateway/history.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "gateway/inside.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/refs.h"
#include "workspace/review.h"

/* Where the branch is: the user may have moved it, and the store learn of it later. */
static int find_tip(const struct gate *g, char tip[65], struct err *e)
{
	if (ref_read(&g->at.repo, g->task.branch, tip, e) < 0)
		return -1;
	return *tip ? 0 : err_set(e, ERR_NOTFOUND, "the branch %s is not there any more", g->task.branch);
}

/* The files beyond the commit, as a pack beside the snapshot's number. */
static int keep_state(struct gate *g, char commit[65], int *ret_pack, struct err *e)
{
	size_t left;

	if (mkdirat(g->at.ws.dir, "snapshots", 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make 'snapshots' of the task");
	*ret_pack = openat(g->at.ws.dir, "snapshots", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret_pack < 0)
		return err_sys(e, "cannot make a file in 'snapshots' of the task");
	return review_keep(&g->at.ws, *ret_pack, commit, &left, e);
}

static int name_pack(struct gate *g, int pack, int64_t number, struct err *e)
{
	auto_str from = xasprintf("/proc/self/fd/%d", pack),
		 to = xasprintf("snapshots/%lld.pack", (long long)number);

	unlinkat(g->at.ws.dir, to, 0);
	if (linkat(AT_FDCWD, from, g->at.ws.dir, to, AT_SYMLINK_FOLLOW) < 0)
		return err_sys(e, "cannot keep '%s' of the task", to);
	return 0;
}

static int record(
	struct gate *g, const char *event, const char *key, const char *value, int64_t n, struct err *e)
{
	return audit_add(
		g->audit, event, &g->task, json_pack("{s:s, s:I}", key, value, "number", (json_int_t)n), e);
}

int snapshot_take(struct gate *g, const char *reason, const char *message, int64_t *ret_number, struct err *e)
{
	auto_str ref = NULL;
	char tip[65], state[65] = "";
	struct snapshot s = { .task_id = g->task.id,
		.commit = tip,
		.reason = (char *)reason,
		.message = (char *)message,
		.commits = g->task.commits };
	auto_ref_txn txn = REF_TXN_INIT;
	auto_fd pack = -1;

	if (find_tip(g, tip, e) < 0 || keep_state(g, state, &pack, e) < 0)
		return err_wrap(e, "cannot take a snapshot");
	s.state = state;
	if (store_begin(g->context.store, e) < 0)
		return -1;
	if (store_snapshot_add(g->context.store, &s, e) < 0 || name_pack(g, pack, s.number, e) < 0) {
		store_rollback(g->context.store);
		return -1;
	}
	fault("snapshot-kept");
	ref = refs_snapshot(g->task.id, s.number);
	ref_set(&txn, ref, tip);
	if (ref_commit(&g->at.repo, &txn, e) < 0 || store_commit(g->context.store, e) < 0) {
		store_rollback(g->context.store);
		return -1;
	}
	*ret_number = s.number;
	return record(g, "snapshot", "reason", reason, s.number, e);
}

int history_move(struct gate *g, const char *commit, const char *by, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	char now[65];

	if (ref_read(&g->at.repo, g->task.branch, now, e) < 0)
		return -1;
	if (!strcmp(now, commit))
		return 0;
	if (audit_add(g->audit, "move", &g->task,
		    json_pack("{s:s, s:s, s:s}", "old", now, "tip", commit, "by", by), e) < 0)
		return -1;
	ref_move(&txn, g->task.branch, commit, now);
	if (ref_commit(&g->at.repo, &txn, e) < 0)
		return -1;
	fault("history-moved");
	if (store_task_published(g->context.store, g->task.id, commit, g->task.commits, e) < 0 ||
		gate_refresh(g, e) < 0)
		return -1;
	return workspace_published(&g->at.ws, commit, e);
}

/* The objects of a kept state go in as a pack. */
static int send_state(struct gate *g, int64_t number, struct err *e)
{
	auto_str name = xasprintf("snapshots/%lld.pack", (long long)number);
	auto_fd pack = open_regular_beneath(g->at.ws.dir, name);

	return pack < 0 ? err_sys(e, "cannot open '%s' of the task", name) : inside_unpack(g, pack, e);
}

/* The workspace becomes that of the commit, and then of the state; the index that of the commit. */
static int restore_inside(struct gate *g, const struct snapshot *s, bool with_state, struct err *e)
{
	if (inside_do(g, NULL, NULL, e, "symbolic-ref", "HEAD", g->task.branch, NULL) < 0 ||
		inside_do(g, NULL, NULL, e, "reset", "-q", "--hard", s->commit, NULL) < 0 ||
		inside_do(g, NULL, NULL, e, "clean", "-ffdxq", NULL) < 0)
		return -1;
	if (!with_state || !*s->state)
		return 0;
	if (send_state(g, s->number, e) < 0 ||
		inside_do(g, NULL, NULL, e, "read-tree", "--reset", "-u", s->state, NULL) < 0)
		return -1;
	return inside_do(g, NULL, NULL, e, "reset", "-q", NULL);
}

int history_restore(struct gate *g, int64_t snapshot, struct err *e)
{
	auto_snapshot s = { 0 };

	if (store_snapshot(g->context.store, g->task.id, snapshot, &s, e) < 0)
		return -1;
	return restore_inside(g, &s, true, e);
}

static int rollback_file(
	struct gate *g, const struct rollback_spec *s, const struct snapshot *from, struct err *e)
{
	const char *commit;
	char tip[65];

	if (find_tip(g, tip, e) < 0)
		return -1;
	commit = !s->snapshot ? tip : *from->state ? from->state : from->commit;
	if (s->snapshot && *from->state && send_state(g, from->number, e) < 0)
		return -1;
	if (audit_add(g->audit, "rollback-file", &g->task,
		    json_pack("{s:o, s:s}", "path", audit_text(s->file), "from", commit), e) < 0)
		return -1;
	if (inside_do(g, NULL, NULL, e, "--literal-pathspecs", "checkout", "-f", "-q", commit, "--", s->file,
		    NULL) < 0) {
		if (strstr(e->msg, "did not match"))
			err_set(e, ERR_NOTFOUND, "'%s' is not in %s", s->file,
				s->snapshot ? "that snapshot" : "the task's last commit");
		return -1;
	}
	return inside_do(g, NULL, NULL, e, "--literal-pathspecs", "reset", "-q", "--", s->file, NULL);
}

int rollback(struct gate *g, const struct rollback_spec *s, int64_t *ret_before, struct err *e)
{
	auto_snapshot to = { 0 };
	auto_str data = NULL;
	int64_t deed;

	if (!s->full && !s->snapshot && !s->file)
		return err_set(e, ERR_USAGE, "back to what?");
	if (s->snapshot || s->full) {
		if (store_snapshot(g->context.store, g->task.id, s->full ? 1 : s->snapshot, &to, e) < 0)
			return -1;
	}
	/* before anything is recorded */
	if (inside_ask(g, NULL, NULL, e, "rev-parse", "--git-dir", NULL) < 0)
		return -1;
	if (s->file)
		return rollback_file(g, s, &to, e);
	if (snapshot_take(g, "rollback", "", ret_before, e) < 0)
		return -1;
	fault("rollback-snapshot");
	if (record(g, "rollback", "to", to.commit, to.number, e) < 0 ||
		restore_inside(g, &to, !s->full, e) < 0)
		return -1;
	fault("rollback-inside");
	if (history_move(g, to.commit, "rollback", e) < 0)
		return -1;
	data = xasprintf("{\"snapshot\":%lld}", (long long)*ret_before);
	return store_deed_add(g->context.store, g->task.id, "rollback", data, &deed, e);
}
