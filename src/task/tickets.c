#include "task/tickets.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/reach.h"
#include "store/ticket.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/task.h"

/* The states of stages, and the words for them of tickets. A ticket has no approval, and its runner does not merge it. */
static const struct {
	const char *stage, *ticket;
} words[] = {
	{ STAGE_WAITING, "waiting" },
	{ STAGE_READY, "queued" },
	{ STAGE_REWORK, "queued" },
	{ STAGE_QUOTA, "queued" },
	{ STAGE_RUNNING, "running" },
	{ STAGE_CHECKING, "checking" },
	{ STAGE_QUEUED, "finished" },
	{ STAGE_DONE, "merged" },
	{ STAGE_ASKING, "asking" },
	{ STAGE_SKIPPED, "discarded" },
};

const char *ticket_state(const struct stage_row *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].stage, s->state))
			return words[i].ticket;
	return s->state;
}

bool tickets_are_there(int task_dir)
{
	return !faccessat(task_dir, TICKETS_FILE, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool tickets_had(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	return !home_task_dir(&c->home, t->id, &dir, &ignored) && tickets_are_there(dir);
}

void tickets_tell(int task_dir)
{
	auto_fd file = openat(task_dir, TICKETS_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	(void)file;
}

/* ERR_NONE and no row if the task has none. */
static int load(struct context *c, const struct task *t, struct stage_row_list *ret, struct err *e)
{
	auto_plan_row set = { 0 };

	if (context_store(c, e) < 0)
		return -1;
	if (store_tickets_of(c->store, t->id, &set, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	return store_stage_list(c->store, set.id, ret, e);
}

/* Whether the user has discarded its task. */
static int is_gone(struct context *c, const struct stage_row *s, bool *ret, struct err *e)
{
	auto_task t = { 0 };

	if (context_store(c, e) < 0)
		return -1;
	if (!store_task_by_id(c->store, s->task_id, &t, e))
		return 0;
	*ret = e->kind == ERR_NOTFOUND;
	return *ret ? (*e = (struct err)ERR_INIT, 0) : -1;
}

/* Whether the task's commit has the ticket's. */
static bool is_merged(
	const struct repo *r, const struct task *t, const struct stage_row *s, struct strvec *unmerged)
{
	const char *tip = *t->published ? t->published : t->base;
	auto_str pair = xasprintf("%s %s", tip, s->tip);

	if (unmerged && strvec_has(unmerged, pair))
		return false;
	if (reach_has(r, tip, s->tip))
		return true;
	if (unmerged)
		strvec_push(unmerged, pair);
	return false;
}

static int settle_one(struct context *c, const struct repo *r, const struct task *t, struct stage_row *s,
	struct strvec *unmerged, struct err *e)
{
	bool merged, gone = false;

	if (strcmp(s->state, STAGE_QUEUED) != 0 || !*s->tip)
		return 0;
	merged = is_merged(r, t, s, unmerged);
	if (!merged && is_gone(c, s, &gone, e) < 0)
		return -1;
	if (!merged && !gone)
		return 0;
	if (context_store(c, e) < 0 || store_ticket_over(c->store, s, merged ? STAGE_DONE : STAGE_SKIPPED,
					       merged ? s->tip : "", e) < 0)
		return -1;
	fault("ticket-merged");
	return 0;
}

int tickets_settle(
	struct context *c, const struct repo *r, const struct task *t, struct strvec *unmerged, struct err *e)
{
	auto_stage_row_list all = { 0 };

	if (load(c, t, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (settle_one(c, r, t, &all.v[i], unmerged, e) < 0)
			return -1;
	return 0;
}

static bool is_open(const struct stage_row *s)
{
	static const char *const over[] = { STAGE_DONE, STAGE_FAILED, STAGE_SKIPPED, STAGE_CANCELLED };

	for (size_t i = 0; i < ARRAY_SIZE(over); i++)
		if (!strcmp(s->state, over[i]))
			return false;
	return true;
}

int tickets_open(
	struct context *c, const struct repo *r, const struct task *t, struct buf *out, struct err *e)
{
	auto_stage_row_list all = { 0 };
	bool any = false;

	if (tickets_settle(c, r, t, NULL, e) < 0 || load(c, t, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (!is_open(&all.v[i]))
			continue;
		buf_printf(out, "%s%s (%s)", any ? ", " : "", all.v[i].name, ticket_state(&all.v[i]));
		any = true;
	}
	return 0;
}

/* The tickets whose tasks still exist. */
static int each_task(struct context *c, const struct task *t, struct task_list *ret, struct err *e)
{
	auto_stage_row_list all = { 0 };

	if (load(c, t, &all, e) < 0)
		return -1;
	ret->v = xcalloc(all.n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < all.n; i++) {
		if (!all.v[i].task_id)
			continue;
		if (!task_find_id(c, all.v[i].task_id, &ret->v[ret->n], e)) {
			ret->n++;
			continue;
		}
		if (e->kind != ERR_NOTFOUND)
			return -1;
		*e = (struct err)ERR_INIT;
	}
	return 0;
}

/* *ret_hint is the command that helps with the first one. */
static void look_at_all(struct context *c, struct task_list *all, const struct discard_opts *o,
	struct strvec *refused, struct err *ret_first)
{
	struct discard_opts look = *o;

	look.look = true;
	for (size_t i = 0; i < all->n; i++) {
		auto_str trash = NULL;
		struct err why = ERR_INIT;

		if (!task_discard(c, &all->v[i], &look, &trash, &why))
			continue;
		if (!refused->n)
			*ret_first = why;
		strvec_push(refused, all->v[i].name);
	}
}

int tickets_discard(
	struct context *c, const struct task *t, const struct discard_opts *o, bool look, struct err *e)
{
	const struct discard_opts own = { .files = o->files,
		.drafts = o->drafts,
		.archive = o->archive,
		.reason = "with the task that asked for it" };
	struct err first = ERR_INIT;
	auto_strvec refused = STRVEC_INIT;
	auto_task_list all = { 0 };

	if (each_task(c, t, &all, e) < 0)
		return -1;
	look_at_all(c, &all, &own, &refused, &first);
	if (refused.n) {
		err_set(e, ERR_REFUSED, "task '%s' has tickets that it has not merged: %s", t->name,
			first.msg);
		err_paths(e, &refused);
		return *first.hint ? err_hint(e, "%s", first.hint) : -1;
	}
	for (size_t i = 0; !look && i < all.n; i++) {
		auto_str trash = NULL;

		if (task_discard(c, &all.v[i], &own, &trash, e) < 0)
			return -1;
		fault("ticket-discarded");
	}
	return 0;
}

int tickets_refuse_merge(struct context *c, const struct task *t, struct err *e)
{
	auto_task parent = { 0 };
	const char *id;
	int64_t asked;

	if (context_store(c, e) < 0 || store_ticket_parent(c->store, t->id, &asked, e) < 0)
		return -1;
	if (!asked || store_task_by_id(c->store, asked, &parent, e) < 0)
		return *e = (struct err)ERR_INIT, 0;
	id = strrchr(t->name, '.');
	err_set(e, ERR_REFUSED, "task '%s' is a ticket of task '%s', which merges it itself", t->name,
		parent.name);
	return err_hint(e, "garth exec %s -- garth ticket merge %s", parent.name, id ? id + 1 : t->name);
}

int tickets_refuse_rename(struct context *c, const struct task *t, struct err *e)
{
	auto_plan_row set = { 0 };
	int64_t asked;

	if (context_store(c, e) < 0 || store_ticket_parent(c->store, t->id, &asked, e) < 0)
		return -1;
	if (asked)
		return err_set(e, ERR_REFUSED,
			"task '%s' is a ticket, and named by the task that asked for it", t->name);
	if (!store_tickets_of(c->store, t->id, &set, e))
		return err_set(e, ERR_REFUSED, "task '%s' has tickets, which are named by it", t->name);
	return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
}

bool tickets_waits(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_plan_row set = { 0 };

	return !strcmp(t->state, STATE_BLOCKED) && !context_store(c, &ignored) &&
	       !store_tickets_of(c->store, t->id, &set, &ignored) && set.waits;
}
