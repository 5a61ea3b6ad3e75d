#include "task/refs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/pin.h"
#include "git/ref.h"
#include "git/worktree.h"
#include "sys/fault.h"
#include "sys/hold_signals.h"
#include "sys/lock.h"
#include "task/pins.h"
#include "task/refs_old.h"
#include "task/shown.h"
#include "workspace/base.h"

#define FETCHED  PINS "fetched/"
#define REFS_MAX (64 << 20)

static unsigned long long home_number(const struct home *h)
{
	struct stat st = { 0 };

	fstat(h->fd, &st);
	return (unsigned long long)st.st_ino;
}

char *refs_fetched(const struct home *h)
{
	return xasprintf(FETCHED "%llx-%d", home_number(h), getpid());
}

/* If another process has got the same pid since, the ref counts as in use until that process ends. */
bool refs_is_fetch_left(const struct home *h, const char *ref)
{
	auto_str ours = xasprintf(FETCHED "%llx-", home_number(h));
	long pid;

	if (strncmp(ref, ours, strlen(ours)))
		return false;
	pid = strtol(ref + strlen(ours), NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* The base has its own ref, since most tasks need no other. If a prune removed the commit, there can be no
 * ref. */
static int add_base(const struct repo *r, const struct task *t, struct ref_txn *txn, struct err *e)
{
	auto_str ref = pins_base(t->id);
	char now[OID_SIZE];

	if (ref_read(r, ref, now, e) < 0)
		return -1;
	if (strcmp(now, t->base) && ref_can_name(r, t->base))
		ref_set(txn, ref, t->base);
	return 0;
}

int refs_keep(
	struct context *c, const struct repo *r, const struct task *t, struct ref_txn *txn, struct err *e)
{
	return add_base(r, t, txn, e) < 0 ? -1 : pins_add_kept(c, r, t, true, txn, e);
}

int refs_count_owed(struct context *c, const struct repo *r, const struct task *t, size_t *ret, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;

	*ret = 0;
	if (add_base(r, t, &txn, e) < 0 || pins_add_kept(c, r, t, false, &txn, e) < 0)
		return -1;
	for (const char *l = buf_str(&txn.text); *l; l = strchr(l, '\n') + 1)
		*ret += !strncmp(l, "update ", 7);
	return 0;
}

int refs_kept(const struct repo *r, const struct task *t, struct strvec *ret, struct err *e)
{
	auto_str ref = pins_kept(t->id);
	char oid[OID_SIZE];

	if (ref_read(r, ref, oid, e) < 0)
		return -1;
	return *oid ? pin_read(r, oid, ret, e) : 0;
}

int refs_keep_commits(const struct repo *r, const struct task *t, const struct strvec *commits,
	struct ref_txn *txn, struct err *e)
{
	return pins_keep_these(r, t, commits, txn, e);
}

int refs_make(struct context *c, const struct repo *r, const struct task *t, const struct shown *shown,
	struct err *e)
{
	auto_str base = pins_base(t->id);
	auto_ref_txn txn = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;

	if (base_lock(&c->home, t->project_id, &lock, e) < 0 || shown_write(c, t->id, shown, e) < 0)
		return -1;
	/* a failed conversion must not prevent a new task */
	refs_old_move_all(c, r, t->project_id, &ignored);
	ref_create(&txn, t->branch, t->base);
	ref_set(&txn, base, t->base);
	if (pins_add_kept(c, r, t, true, &txn, e) < 0)
		return -1;
	if (!ref_commit(r, &txn, e))
		return 0;
	if (e->kind == ERR_EXISTS)
		return err_set(
			e, ERR_EXISTS, "there is a branch '%s' already", t->branch + strlen("refs/heads/"));
	return err_wrap(e, "cannot make the branch of task '%s'", t->name);
}

static int list_trash(const struct repo *r, int64_t id, struct buf *ret, struct err *e)
{
	auto_str prefix = pins_trash(id, "");

	return ref_list(r, prefix, ret, e);
}

static int drop_below(struct ref_txn *txn, const struct repo *r, const char *place, int64_t id, struct err *e)
{
	auto_str prefix = xasprintf(PINS "%s/%lld/", place, (long long)id);
	auto_buf list = BUF_INIT(REFS_MAX);

	if (ref_list(r, prefix, &list, e) < 0)
		return -1;
	pins_drop(txn, &list, NULL);
	return 0;
}

int refs_add_trash(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	struct ref_txn *txn, struct err *e)
{
	auto_str name = NULL;

	return pins_add_trash(c, r, t, tip, NULL, txn, &name, e);
}

int refs_drop(struct context *c, const struct repo *r, const struct task *t, const char *tip, bool trash,
	bool *ret_kept, struct err *e)
{
	auto_buf done = BUF_INIT(REFS_MAX);
	auto_ref_txn txn = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	auto_str checkout = NULL;
	auto_lock lock = -1;
	char now[OID_SIZE];

	if (base_lock(&c->home, t->project_id, &lock, e) < 0)
		return -1;
	/* if this fails, garth doctor finds the old refs */
	refs_old_move(c, r, t, NULL, &ignored);
	if (ref_read(r, t->branch, now, e) < 0 || list_trash(r, t->id, &done, e) < 0 ||
		worktree_with_branch(r, t->branch, &checkout, e) < 0)
		return -1;
	*ret_kept = *now && checkout;
	if (!strcmp(now, tip) && !*ret_kept)
		ref_remove(&txn, t->branch, tip);
	/* if there is such a ref already, an earlier attempt made it, when more was known */
	if (trash && !done.len && refs_add_trash(c, r, t, tip, &txn, e) < 0)
		return -1;
	if (drop_below(&txn, r, "tasks", t->id, e) < 0 ||
		(!trash && drop_below(&txn, r, "snapshots", t->id, e) < 0))
		return -1;
	return ref_commit(r, &txn, e);
}

static int branch_exists(const struct task *t, struct err *e)
{
	const char *branch = t->branch + strlen("refs/heads/");

	err_set(e, ERR_EXISTS, "there is another branch '%s' by now", branch);
	return err_hint(e, "git branch -m %s OTHER_NAME", branch);
}

int refs_check_free(
	const struct repo *r, const struct task *t, const char *tip, bool kept_branch, struct err *e)
{
	auto_buf kept = BUF_INIT(REFS_MAX);
	char now[OID_SIZE];

	if (ref_read(r, t->branch, now, e) < 0)
		return -1;
	if (!*now || kept_branch)
		return 0;
	if (list_trash(r, t->id, &kept, e) < 0)
		return -1;
	/* without a pin, the repository was not available when the task was discarded, and the branch is
	 * still the task's */
	return kept.len || strcmp(now, tip) ? branch_exists(t, e) : 0;
}

int refs_restore(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	bool kept_branch, struct err *e)
{
	auto_buf kept = BUF_INIT(REFS_MAX);
	auto_ref_txn txn = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;
	char now[OID_SIZE];

	if (base_lock(&c->home, t->project_id, &lock, e) < 0)
		return -1;
	refs_old_move(c, r, t, NULL, &ignored);
	if (refs_check_free(r, t, tip, kept_branch, e) < 0 || ref_read(r, t->branch, now, e) < 0 ||
		list_trash(r, t->id, &kept, e) < 0 || refs_keep(c, r, t, &txn, e) < 0)
		return -1;
	if (!*now)
		ref_create(&txn, t->branch, tip);
	pins_drop(&txn, &kept, NULL);
	if (!ref_commit(r, &txn, e))
		return 0;
	return e->kind == ERR_EXISTS ? branch_exists(t, e)
				     : err_wrap(e, "cannot make the branch of task '%s'", t->name);
}

int refs_forget(const struct repo *r, int64_t id, struct err *e)
{
	auto_buf kept = BUF_INIT(REFS_MAX);
	auto_ref_txn txn = REF_TXN_INIT;

	if (list_trash(r, id, &kept, e) < 0 || drop_below(&txn, r, "snapshots", id, e) < 0 ||
		drop_below(&txn, r, "tasks", id, e) < 0)
		return -1;
	pins_drop(&txn, &kept, NULL);
	return ref_commit(r, &txn, e);
}

int refs_forget_found(const struct repo *r, const char *name, struct err *e)
{
	auto_str prefix = xasprintf(PINS "trash/%s/", name);
	auto_buf kept = BUF_INIT(REFS_MAX);
	auto_ref_txn txn = REF_TXN_INIT;

	if (ref_list(r, prefix, &kept, e) < 0)
		return -1;
	pins_drop(&txn, &kept, NULL);
	return ref_commit(r, &txn, e);
}

int refs_migrate(struct context *c, const struct repo *r, struct task *t, struct err *e)
{
	auto_lock lock = -1;

	if (shown_is_known(t))
		return 0;
	return base_lock(&c->home, t->project_id, &lock, e) < 0 ? -1 : refs_old_move(c, r, t, &t->shown, e);
}

static int renew(struct context *c, const struct repo *r, const struct task *t, const struct shown *shown,
	struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;

	if (shown_write(c, t->id, shown, e) < 0)
		return -1;
	fault("renew-written");
	return refs_keep(c, r, t, &txn, e) < 0 ? -1 : ref_commit(r, &txn, e);
}

int refs_renew(struct context *c, const struct repo *r, const struct task *t, const struct shown *shown,
	struct err *e)
{
	auto_lock lock = -1;
	char name[35];
	int rc;

	shown_name(shown, name);
	if (!strcmp(name, t->shown))
		return 0;
	if (base_lock(&c->home, t->project_id, &lock, e) < 0)
		return -1;
	/* a run may end at any moment, and its gateway with it */
	signals_hold();
	rc = renew(c, r, t, shown, e);
	signals_let_go();
	return rc;
}

int refs_renewed(struct context *c, struct task *t, const struct shown *shown, struct err *e)
{
	char name[35];

	shown_name(shown, name);
	if (!strcmp(name, t->shown))
		return 0;
	if (store_task_rebased(c->store, t->id, t->base, name, e) < 0)
		return -1;
	free(t->shown);
	t->shown = xstrdup(name);
	return 0;
}
