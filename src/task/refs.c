#include "task/refs.h"

#include <nettle/sha2.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "workspace/base.h"

void refs_set_name(const struct buf *shown, char out[33])
{
	struct sha256_ctx ctx;
	uint8_t digest[16];

	sha256_init(&ctx);
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

		/* the branch pins the base; a tip that is named twice is pinned once */
		if (strcmp(oid, t->base) && !(txn->text.data && strstr(txn->text.data, name)))
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

static bool has_ref(const struct buf *list, const char *name, char **ret_oid)
{
	size_t n = strlen(name);

	for (const char *l = buf_str(list); *l; l = strchr(l, '\n') + 1) {
		const char *ref = l + strcspn(l, " ") + 1;

		if (strcspn(ref, "\n") == n && !strncmp(ref, name, n)) {
			*ret_oid = xstrndup(l, strcspn(l, " "));
			return true;
		}
	}
	return false;
}

static void drop_pins(struct ref_txn *txn, const struct buf *list)
{
	for (const char *l = buf_str(list); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " "));
		auto_str name = xstrndup(l + strlen(oid) + 1, strcspn(l + strlen(oid) + 1, "\n"));

		ref_remove(txn, name, oid);
	}
}

int refs_drop(struct context *c, const struct repo *r, const struct task *t, bool trash, struct err *e)
{
	auto_str prefix = xasprintf("refs/garth/shown/%s/", t->shown);
	auto_str kept = xasprintf("refs/garth/trash/%lld", (long long)t->id), tip = NULL;
	auto_buf branch = BUF_INIT(1 << 20), pins = BUF_INIT(64 << 20);
	auto_ref_txn txn = REF_TXN_INIT;
	auto_lock lock = -1;
	size_t others;

	if (base_lock(&c->home, t->project_id, &lock, e) < 0 ||
		store_task_count_shown(c->store, t->project_id, t->shown, &others, e) < 0 ||
		ref_list(r, t->branch, &branch, e) < 0)
		return -1;
	if (has_ref(&branch, t->branch, &tip) && !strcmp(tip, t->base))
		ref_remove(&txn, t->branch, tip);
	/* the user may have removed the branch, and cleaned up after it */
	if (trash && (tip || ref_can_name(r, t->base)))
		ref_set(&txn, kept, t->base);
	if (others < 2) {
		if (ref_list(r, prefix, &pins, e) < 0)
			return -1;
		drop_pins(&txn, &pins);
	}
	return ref_commit(r, &txn, e);
}
