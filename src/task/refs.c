#include "task/refs.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "git/worktree.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "workspace/base.h"

#define FETCHED "refs/garth/fetched/"

static unsigned long long home_number(const struct home *h)
{
	struct stat st = { 0 };

	fstat(h->fd, &st);
	return (unsigned long long)st.st_ino;
}

char *refs_snapshot(int64_t task, int64_t number)
{
	return xasprintf("refs/garth/snapshots/%lld/%lld", (long long)task, (long long)number);
}

char *refs_fetched(const struct home *h)
{
	return xasprintf(FETCHED "%llx-%d", home_number(h), getpid());
}

/* A process that has got the same number since hides one for as long as it lives, no more. */
bool refs_is_fetch_left(const struct home *h, const char *ref)
{
	auto_str ours = xasprintf(FETCHED "%llx-", home_number(h));
	long pid;

	if (strncmp(ref, ours, strlen(ours)))
		return false;
	pid = strtol(ref + strlen(ours), NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void refs_set_name(const struct home *h, const struct buf *shown, char out[33])
{
	struct sha256_ctx ctx;
	struct stat st = { 0 };
	uint8_t digest[16];

	fstat(h->fd, &st);
	sha256_init(&ctx);
	sha256_update(&ctx, sizeof(st.st_ino), (const uint8_t *)&st.st_ino);
	sha256_update(&ctx, shown->len, (const uint8_t *)buf_str(shown));
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void pin_all(struct ref_txn *txn, const struct task *t, const struct buf *shown)
{
	for (const char *l = buf_str(shown); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " "));
		auto_str name = xasprintf("refs/garth/shown/%s/%s", t->shown, oid);

		/* a tip that is named twice is pinned once; the base too, which another task with the set
		 * need not stand on */
		if (!(txn->text.data && strstr(txn->text.data, name)))
			ref_set(txn, name, oid);
	}
}

int refs_make(
	struct context *c, const struct repo *r, const struct task *t, const struct buf *shown, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	auto_lock lock = -1;
	size_t others;

	if (base_lock(&c->home, t->project_id, &lock, e) < 0 ||
		store_task_count_shown(c->store, t->project_id, t->shown, &others, e) < 0)
		return -1;
	/* this task is in the store already; a second one with the set means that the pins are there */
	if (others < 2)
		pin_all(&txn, t, shown);
	ref_create(&txn, t->branch, t->base);
	if (!ref_commit(r, &txn, e))
		return 0;
	if (strstr(e->msg, "reference already exists"))
		return err_set(
			e, ERR_EXISTS, "there is a branch '%s' already", t->branch + strlen("refs/heads/"));
	return err_wrap(e, "cannot make the branch of task '%s'", t->name);
}

static void drop_pins(struct ref_txn *txn, const struct buf *list)
{
	for (const char *l = buf_str(list); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " "));
		auto_str name = xstrndup(l + strlen(oid) + 1, strcspn(l + strlen(oid) + 1, "\n"));

		ref_remove(txn, name, oid);
	}
}

/* The tips that the set has now, as lines "OID REF". */
static int list_set(const struct repo *r, const char *set, struct buf *ret, struct err *e)
{
	auto_str prefix = xasprintf("refs/garth/shown/%s/", set);

	return ref_list(r, prefix, ret, e);
}

/* Pins for the trash what the task stands on, where it is there: the user may have removed the branch, and
 * cleaned up after it. `present` certainly is. */
static void pin_for_trash(
	struct ref_txn *txn, const struct repo *r, const struct task *t, const char *tip, const char *present)
{
	const struct {
		const char *name, *oid;
	} pins[] = { { "base", t->base }, { "tip", tip }, { "published", t->published },
		{ "layer", t->layer } };

	for (size_t i = 0; i < ARRAY_SIZE(pins); i++) {
		auto_str name = xasprintf("refs/garth/trash/%lld/%s", (long long)t->id, pins[i].name);
		bool known = !*pins[i].oid;

		for (size_t j = 0; j < i; j++)
			known |= !strcmp(pins[i].oid, pins[j].oid);
		if (!known && (!strcmp(pins[i].oid, present) || ref_can_name(r, pins[i].oid)))
			ref_set(txn, name, pins[i].oid);
	}
}

static void pin_shown_for_trash(struct ref_txn *txn, const struct task *t, const struct buf *set)
{
	for (const char *l = buf_str(set); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " "));
		auto_str name = xasprintf("refs/garth/trash/%lld/shown-%s", (long long)t->id, oid);

		ref_set(txn, name, oid);
	}
}

static int drop_snapshots(struct ref_txn *txn, const struct repo *r, int64_t id, struct err *e)
{
	auto_str prefix = xasprintf("refs/garth/snapshots/%lld/", (long long)id);
	auto_buf list = BUF_INIT(64 << 20);

	if (ref_list(r, prefix, &list, e) < 0)
		return -1;
	drop_pins(txn, &list);
	return 0;
}

int refs_drop(struct context *c, const struct repo *r, const struct task *t, const char *tip, bool trash,
	bool *ret_kept, struct err *e)
{
	auto_str old_form = xasprintf("refs/garth/trash/%lld", (long long)t->id);
	char now[65], kept_before[65];
	auto_buf set = BUF_INIT(64 << 20);
	auto_ref_txn txn = REF_TXN_INIT;
	auto_str checkout = NULL;
	auto_lock lock = -1;
	size_t others;

	if (base_lock(&c->home, t->project_id, &lock, e) < 0 ||
		store_task_count_shown(c->store, t->project_id, t->shown, &others, e) < 0 ||
		ref_read(r, t->branch, now, e) < 0 || ref_read(r, old_form, kept_before, e) < 0 ||
		worktree_with_branch(r, t->branch, &checkout, e) < 0)
		return -1;
	*ret_kept = *now && checkout;
	if ((trash || others < 2) && list_set(r, t->shown, &set, e) < 0)
		return -1;
	if (!strcmp(now, tip) && !*ret_kept)
		ref_remove(&txn, t->branch, tip);
	if (trash && !*kept_before) {
		pin_for_trash(&txn, r, t, tip, now);
		pin_shown_for_trash(&txn, t, &set);
	} else if (!trash && drop_snapshots(&txn, r, t->id, e) < 0) {
		return -1;
	}
	if (others < 2)
		drop_pins(&txn, &set);
	return ref_commit(r, &txn, e);
}

static int branch_exists(const struct task *t, struct err *e)
{
	const char *branch = t->branch + strlen("refs/heads/");

	err_set(e, ERR_EXISTS, "there is another branch '%s' by now", branch);
	return err_hint(e, "git branch -m %s OTHER_NAME", branch);
}

static int list_kept(const struct repo *r, int64_t id, struct buf *ret, struct err *e)
{
	auto_str prefix = xasprintf("refs/garth/trash/%lld", (long long)id);

	return ref_list(r, prefix, ret, e);
}

int refs_check_free(
	const struct repo *r, const struct task *t, const char *tip, bool kept_branch, struct err *e)
{
	auto_buf kept = BUF_INIT(64 << 20);
	char now[65];

	if (ref_read(r, t->branch, now, e) < 0)
		return -1;
	if (!*now || kept_branch)
		return 0;
	if (list_kept(r, t->id, &kept, e) < 0)
		return -1;
	/* without a pin, the repository was out of reach when the task was discarded, and the branch is its
	 * own */
	return kept.len || strcmp(now, tip) ? branch_exists(t, e) : 0;
}

/* The pins on what was shown become those of the set again; all of those for the trash go. */
static void move_pins_back(struct ref_txn *txn, const struct task *t, const struct buf *kept)
{
	auto_str shown = xasprintf(" refs/garth/trash/%lld/shown-", (long long)t->id);

	for (const char *l = buf_str(kept); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " "));
		auto_str name = xasprintf("refs/garth/shown/%s/%s", t->shown, oid);

		if (!strncmp(l + strlen(oid), shown, strlen(shown)))
			ref_set(txn, name, oid);
	}
	drop_pins(txn, kept);
}

int refs_restore(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	bool kept_branch, struct err *e)
{
	auto_buf kept = BUF_INIT(64 << 20);
	auto_ref_txn txn = REF_TXN_INIT;
	auto_lock lock = -1;
	char now[65];

	if (base_lock(&c->home, t->project_id, &lock, e) < 0 ||
		refs_check_free(r, t, tip, kept_branch, e) < 0 || ref_read(r, t->branch, now, e) < 0 ||
		list_kept(r, t->id, &kept, e) < 0)
		return -1;
	if (!*now)
		ref_create(&txn, t->branch, tip);
	move_pins_back(&txn, t, &kept);
	if (!ref_commit(r, &txn, e))
		return 0;
	return strstr(e->msg, "already exists") ? branch_exists(t, e)
						: err_wrap(e, "cannot make the branch of task '%s'", t->name);
}

int refs_forget(const struct repo *r, int64_t id, struct err *e)
{
	auto_buf kept = BUF_INIT(64 << 20);
	auto_ref_txn txn = REF_TXN_INIT;

	if (list_kept(r, id, &kept, e) < 0 || drop_snapshots(&txn, r, id, e) < 0)
		return -1;
	drop_pins(&txn, &kept);
	return ref_commit(r, &txn, e);
}

int refs_forget_found(const struct repo *r, const char *name, struct err *e)
{
	auto_str prefix = xasprintf("refs/garth/trash/%s/", name);
	auto_buf kept = BUF_INIT(64 << 20);
	auto_ref_txn txn = REF_TXN_INIT;

	if (ref_list(r, prefix, &kept, e) < 0)
		return -1;
	drop_pins(&txn, &kept);
	return ref_commit(r, &txn, e);
}

int refs_renew(
	struct context *c, const struct repo *r, struct task *t, const struct buf *shown, struct err *e)
{
	auto_ref_txn pins = REF_TXN_INIT, drops = REF_TXN_INIT;
	auto_buf old = BUF_INIT(64 << 20), all = BUF_INIT(128 << 20);
	struct task renewed = *t;
	auto_lock lock = -1;
	size_t others;
	char set[33];

	refs_set_name(&c->home, shown, set);
	if (!strcmp(set, t->shown))
		return 0;
	renewed.shown = set;
	if (base_lock(&c->home, t->project_id, &lock, e) < 0 || list_set(r, t->shown, &old, e) < 0)
		return -1;
	buf_add(&all, buf_str(shown), shown->len);
	buf_add(&all, buf_str(&old), old.len);
	pin_all(&pins, &renewed, &all);
	if (ref_commit(r, &pins, e) < 0 || store_task_rebased(c->store, t->id, t->base, set, e) < 0 ||
		store_task_count_shown(c->store, t->project_id, t->shown, &others, e) < 0)
		return -1;
	free(t->shown);
	t->shown = xstrdup(set);
	if (others)
		return 0;
	drop_pins(&drops, &old);
	return ref_commit(r, &drops, e);
}
