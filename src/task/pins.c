#include "task/pins.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "git/pin.h"
#include "task/shown.h"

static const char about[] = "Commits that Garth keeps for task %lld\n"
			    "\n"
			    "There is nothing in this commit. Its parents are tips of snapshots and of\n"
			    "branches as the task saw them; without it, git gc would remove those that\n"
			    "are on no branch. It goes when the task goes.\n";

char *pins_base(int64_t id)
{
	return xasprintf(PINS "tasks/%lld/base", (long long)id);
}

char *pins_kept(int64_t id)
{
	return xasprintf(PINS "tasks/%lld/kept", (long long)id);
}

char *pins_trash(int64_t id, const char *what)
{
	return xasprintf(PINS "trash/%lld%s%s", (long long)id, *what ? "/" : "", what);
}

static void push(struct strvec *v, const char *oid, const char *base)
{
	if (*oid && strcmp(oid, base) && !strvec_has(v, oid))
		strvec_push(v, oid);
}

/* Collects all commits but the base: `tips` are the task's own, `held` is what it is shown now. */
static int collect(
	struct context *c, const struct task *t, struct strvec *tips, struct strvec *held, struct err *e)
{
	auto_strvec now = STRVEC_INIT, before = STRVEC_INIT;
	auto_buf shown = BUF_INIT(SHOWN_MAX);
	auto_snapshot_list l = { 0 };

	if (store_snapshot_list(c->store, t->id, &l, e) < 0 || shown_read_branches(c, t->id, &shown, e) < 0)
		return -1;
	push(tips, t->layer, t->base);
	for (size_t i = 0; i < l.n; i++)
		push(tips, l.v[i].commit, t->base);
	shown_branches(&shown, &now, &before);
	for (size_t i = 0; i < before.n; i++)
		push(tips, before.v[i], t->base);
	for (size_t i = 0; i < now.n; i++)
		push(held, now.v[i], t->base);
	return 0;
}

static void take_out(struct strvec *v, const char *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->v[i], s) != 0)
			v->v[kept++] = v->v[i];
		else
			free(v->v[i]);
	for (size_t i = kept; i < v->n; i++)
		v->v[i] = NULL;
	v->n = kept;
}

/* Sets the ref to a commit that keeps them all. Makes the commit unless the ref has it already. */
static int add(const struct repo *r, const struct task *t, const struct pin *p, const char *ref, bool write,
	struct ref_txn *txn, struct err *e)
{
	auto_str text = xasprintf(about, (long long)t->id);
	char now[OID_SIZE], oid[OID_SIZE];

	if (ref_read(r, ref, now, e) < 0 || pin_name(r, p, text, oid, e) < 0)
		return -1;
	if (!strcmp(now, oid))
		return 0;
	if (write && pin_write(r, p, text, txn, e) < 0)
		return -1;
	ref_set(txn, ref, oid);
	return 0;
}

static int remove_ref(const struct repo *r, const char *ref, struct ref_txn *txn, struct err *e)
{
	char now[OID_SIZE];

	if (ref_read(r, ref, now, e) < 0)
		return -1;
	if (*now)
		ref_remove(txn, ref, now);
	return 0;
}

int pins_add_kept(struct context *c, const struct repo *r, const struct task *t, bool write,
	struct ref_txn *txn, struct err *e)
{
	auto_strvec tips = STRVEC_INIT, held = STRVEC_INIT;
	auto_str ref = pins_kept(t->id);
	auto_pin p = PIN_INIT;

	if (collect(c, t, &tips, &held, e) < 0)
		return -1;
	if (tips.n || held.n) {
		strvec_push(&held, t->base);
		if (pin_choose(r, &tips, &held, &p, e) < 0)
			return -1;
		take_out(&p.commits, t->base);
	}
	return p.commits.n ? add(r, t, &p, ref, write, txn, e) : remove_ref(r, ref, txn, e);
}

int pins_keep_these(const struct repo *r, const struct task *t, const struct strvec *commits,
	struct ref_txn *txn, struct err *e)
{
	auto_strvec held = STRVEC_INIT;
	auto_str ref = pins_kept(t->id);
	auto_pin p = PIN_INIT;

	strvec_push(&held, t->base);
	if (pin_choose(r, commits, &held, &p, e) < 0)
		return -1;
	take_out(&p.commits, t->base);
	return p.commits.n ? add(r, t, &p, ref, true, txn, e) : 0;
}

/* In an early version refs/garth/trash/<id> was itself a ref: git cannot have a ref below it, so that name is
 * used again. */
static int name_trash(const struct repo *r, int64_t id, bool one, char **ret, struct err *e)
{
	auto_str old = pins_trash(id, "");
	char now[OID_SIZE];

	if (ref_read(r, old, now, e) < 0)
		return -1;
	*ret = *now ? steal_ptr(old) : pins_trash(id, one ? "tip" : "kept");
	return 0;
}

int pins_add_trash(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct strvec *more, struct ref_txn *txn, char **ret_name, struct err *e)
{
	auto_strvec tips = STRVEC_INIT, held = STRVEC_INIT;
	auto_pin p = PIN_INIT;

	*ret_name = NULL;
	if (collect(c, t, &tips, &held, e) < 0)
		return -1;
	push(&tips, tip, t->base);
	push(&tips, t->published, t->base);
	for (size_t i = 0; more && i < more->n; i++)
		push(&tips, more->v[i], t->base);
	strvec_push(&held, t->base);
	if (pin_choose(r, &tips, &held, &p, e) < 0)
		return -1;
	if (!p.commits.n)
		return 0;
	if (name_trash(r, t->id, p.commits.n == 1, ret_name, e) < 0)
		return -1;
	if (p.commits.n > 1)
		return add(r, t, &p, *ret_name, true, txn, e);
	ref_set(txn, *ret_name, p.commits.v[0]);
	return 0;
}

void pins_drop(struct ref_txn *txn, const struct buf *lines, const char *but)
{
	for (const char *l = buf_str(lines); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " "));
		auto_str name = xstrndup(l + strlen(oid) + 1, strcspn(l + strlen(oid) + 1, "\n"));

		if (!but || strcmp(name, but) != 0)
			ref_remove(txn, name, oid);
	}
}
