#include "task/refs_old.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/archive.h"
#include "task/pins.h"
#include "task/refs.h"
#include "task/shown.h"
#include "task/task.h"

#define REFS_MAX (64 << 20)

/* The old refs of one task. */
struct old {
	struct buf set, snapshots, trash; /* "OID REF" lines */
	struct buf now;                   /* what the repository would show the task now */
};
#define OLD_INIT                                                                                             \
	{                                                                                                    \
		.set = BUF_INIT(REFS_MAX), .snapshots = BUF_INIT(REFS_MAX), .trash = BUF_INIT(REFS_MAX),     \
		.now = BUF_INIT(REFS_MAX)                                                                    \
	}

static void old_release(struct old *o)
{
	buf_release(&o->set);
	buf_release(&o->snapshots);
	buf_release(&o->trash);
	buf_release(&o->now);
}
#define auto_old __attribute__((cleanup(old_release))) struct old

static int old_read(const struct repo *r, const struct task *t, struct old *ret, struct err *e)
{
	auto_str set = xasprintf(PINS "shown/%s/", t->shown),
		 snapshots = xasprintf(PINS "snapshots/%lld/", (long long)t->id),
		 trash = pins_trash(t->id, "");

	if (ref_list(r, set, &ret->set, e) < 0 || ref_list(r, snapshots, &ret->snapshots, e) < 0 ||
		ref_list(r, trash, &ret->trash, e) < 0)
		return -1;
	return ref_shown(r, t->target, NULL, &ret->now, e);
}

static bool has_id(const struct buf *lines, const char *oid, size_t n)
{
	return lines->len && memmem(lines->data, lines->len, oid, n);
}

/* Refs that still have the value that was shown; for the other ids of the set, the name is not known. */
static void list_shown(const struct old *o, struct buf *now, struct buf *before)
{
	for (const char *l = buf_str(&o->now); *l; l = strchr(l, '\n') + 1)
		if (has_id(&o->set, l, strcspn(l, " ")))
			buf_add(now, l, strcspn(l, "\n") + 1);
	for (const char *l = buf_str(&o->set); *l; l = strchr(l, '\n') + 1)
		if (!has_id(&o->now, l, strcspn(l, " ")))
			buf_printf(before, "%.*s ~" SHOWN_NAMELESS "\n", (int)strcspn(l, " "), l);
	/* after a crash, a snapshot's ref may exist that the store does not know: do not lose it */
	for (const char *l = buf_str(&o->snapshots); *l; l = strchr(l, '\n') + 1)
		buf_printf(before, "%.*s ~" PINS "snapshots\n", (int)strcspn(l, " "), l);
}

/* Does not overwrite the file: if it exists, a crash came after it was written, and the set may be gone. An
 * archived task has no directory to write to. */
static int write_shown(
	struct context *c, const struct task *t, const struct old *o, char name[35], struct err *e)
{
	static const char *const places[] = { "tasks", "trash" };
	auto_buf before = BUF_INIT(SHOWN_MAX), there = BUF_INIT(SHOWN_MAX);
	auto_shown now = SHOWN_INIT;

	list_shown(o, &now.lines, &before);
	shown_find_tags(&now);
	shown_name(&now, name);
	if (shown_read(c, t->id, &there, e) < 0)
		return -1;
	buf_add(&now.lines, buf_str(&before), before.len);
	for (size_t i = 0; !there.len && i < ARRAY_SIZE(places); i++) {
		auto_str place = xasprintf("%s/%lld", places[i], (long long)t->id);
		auto_fd dir = openat(c->home.fd, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (dir >= 0)
			return write_file(dir, "shown", buf_str(&now.lines), now.lines.len, 0600, e);
	}
	return 0;
}

/* Tips of snapshots (the store may not know all of them), and commits in the trash that the user's own refs
 * do not keep. */
static void list_more(const struct old *o, struct strvec *ret)
{
	const struct buf *lists[] = { &o->snapshots, &o->trash };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (const char *l = buf_str(lists[i]); *l; l = strchr(l, '\n') + 1) {
			size_t n = strcspn(l, " ");
			bool shown = memmem(l, strcspn(l, "\n"), "/shown-", 7) != NULL;

			if (!shown || !has_id(&o->now, l, n))
				strvec_pushn(ret, l, n);
		}
}

static int make_new(struct context *c, const struct repo *r, const struct task *t, const struct old *o,
	char **ret_trash, struct err *e)
{
	auto_strvec more = STRVEC_INIT;
	auto_ref_txn txn = REF_TXN_INIT;

	list_more(o, &more);
	/* a task that is being restored may have either kind; one that was discarded while its repository was
	 * not available still has its branch */
	if (o->trash.len ? pins_add_trash(c, r, t, t->published, &more, &txn, ret_trash, e) < 0
			 : !t->removed && refs_keep(c, r, t, &txn, e) < 0)
		return -1;
	if (ref_commit(r, &txn, e) < 0)
		return -1;
	fault("migrate-made");
	return 0;
}

static int drop_old(struct context *c, const struct repo *r, const struct task *t, const struct old *o,
	const char *but, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	size_t users;

	if (store_task_count_shown(c->store, t->project_id, t->shown, &users, e) < 0)
		return -1;
	if (users <= (t->removed ? 0 : 1))
		pins_drop(&txn, &o->set, NULL);
	if (but || !t->removed)
		pins_drop(&txn, &o->snapshots, NULL);
	if (but)
		pins_drop(&txn, &o->trash, but);
	if (ref_commit(r, &txn, e) < 0)
		return -1;
	fault("migrate-dropped");
	return 0;
}

int refs_old_move(
	struct context *c, const struct repo *r, const struct task *t, char **ret_name, struct err *e)
{
	auto_old o = OLD_INIT;
	auto_str trash = NULL;
	char name[35];

	if (shown_is_known(t))
		return 0;
	if (old_read(r, t, &o, e) < 0 || write_shown(c, t, &o, name, e) < 0)
		return -1;
	fault("migrate-shown");
	if (make_new(c, r, t, &o, &trash, e) < 0 || drop_old(c, r, t, &o, trash, e) < 0 ||
		store_task_shown(c->store, t->id, name, e) < 0)
		return -1;
	if (ret_name) {
		free(*ret_name);
		*ret_name = xstrdup(name);
	}
	return 0;
}

/* Whether the task exists, is in the trash, or is archived. For others garth doctor removes old refs. */
static bool is_usable(const struct context *c, const struct task *t)
{
	auto_str trash = xasprintf("trash/%lld", (long long)t->id);

	return !t->removed || !faccessat(c->home.fd, trash, F_OK, AT_SYMLINK_NOFOLLOW) ||
	       archive_is_there(c, t);
}

int refs_old_move_all(struct context *c, const struct repo *r, int64_t project, struct err *e)
{
	auto_str key = xasprintf("refs-form-%lld", (long long)project), form = NULL;
	auto_task_list all = { 0 };
	bool left = false;

	if (!store_fact(c->store, key, &form, e))
		return 0;
	if (e->kind != ERR_NOTFOUND || store_task_list(c->store, true, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct task *t = &all.v[i];

		if (t->project_id != project || shown_is_known(t) || !is_usable(c, t))
			continue;
		if (task_is_busy(c, t))
			left = true;
		else if (refs_old_move(c, r, t, NULL, e) < 0)
			return -1;
	}
	return left ? 0 : store_set_fact(c->store, key, "2", e);
}
