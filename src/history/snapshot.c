#include "history/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "history/rollback_submodules.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/refs.h"

/* The tip as the repository has it: the user may have moved the branch, and the store may not know yet. */
static int find_tip(const struct inside *in, char tip[OID_SIZE], struct err *e)
{
	if (ref_read(&in->at.repo, in->task.branch, tip, e) < 0)
		return -1;
	return *tip ? 0 : err_set(e, ERR_NOTFOUND, "the branch %s is not there any more", in->task.branch);
}

/* Packs the files beyond the commit. The pack has no name yet: the caller links it under the snapshot's
 * number. */
static int keep_state(
	struct inside *in, char commit[OID_SIZE], int *ret_pack, struct review_left *left, struct err *e)
{
	if (mkdirat(in->at.ws.dir, "snapshots", 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make 'snapshots' of the task");
	*ret_pack = openat(in->at.ws.dir, "snapshots", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret_pack < 0)
		return err_sys(e, "cannot make a file in 'snapshots' of the task");
	return review_keep(&in->at.ws, *ret_pack, commit, left, e);
}

static int name_pack(struct inside *in, int pack, int64_t number, struct err *e)
{
	auto_str from = xasprintf("/proc/self/fd/%d", pack),
		 to = xasprintf("snapshots/%lld.pack", (long long)number);

	unlinkat(in->at.ws.dir, to, 0);
	if (linkat(AT_FDCWD, from, in->at.ws.dir, to, AT_SYMLINK_FOLLOW) < 0)
		return err_sys(e, "cannot keep '%s' of the task", to);
	return 0;
}

int snapshot_take(struct inside *in, const char *reason, const char *message, int64_t *ret_number,
	struct review_left *left, struct err *e)
{
	char tip[OID_SIZE], state[OID_SIZE] = "";
	struct snapshot s = { .task_id = in->task.id,
		.commit = tip,
		.reason = (char *)reason,
		.message = (char *)message,
		.commits = in->task.commits };
	auto_ref_txn txn = REF_TXN_INIT;
	auto_fd pack = -1;

	if (find_tip(in, tip, e) < 0 || keep_state(in, state, &pack, left, e) < 0)
		return err_wrap(e, "cannot take a snapshot");
	s.state = state;
	if (store_begin(in->context.store, e) < 0)
		return -1;
	if (store_snapshot_add(in->context.store, &s, e) < 0 || name_pack(in, pack, s.number, e) < 0 ||
		snapshot_submodules(in, s.number, e) < 0) {
		store_rollback(in->context.store);
		return -1;
	}
	fault("snapshot-kept");
	if (refs_keep(&in->context, &in->at.repo, &in->task, &txn, e) < 0 ||
		ref_commit(&in->at.repo, &txn, e) < 0 || store_commit(in->context.store, e) < 0) {
		store_rollback(in->context.store);
		return -1;
	}
	*ret_number = s.number;
	return audit_add(in->audit, "snapshot", &in->task,
		json_pack("{s:s, s:I}", "reason", reason, "number", (json_int_t)s.number), e);
}

int snapshot_send_state(struct inside *in, int64_t number, struct err *e)
{
	auto_str name = xasprintf("snapshots/%lld.pack", (long long)number);
	auto_fd pack = open_regular_beneath(in->at.ws.dir, name);

	return pack < 0 ? err_sys(e, "cannot open '%s' of the task", name) : inside_unpack(in, pack, e);
}
