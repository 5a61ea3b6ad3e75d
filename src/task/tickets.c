#include "task/tickets.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/reach.h"
#include "store/ticket.h"
#include "sys/fault.h"
#include "sys/fd.h"

/* The words of stages, and those of tickets. A ticket has no gate, and is not merged by its runner. */
static const struct {
	const char *stage, *ticket;
} words[] = {
	{ STAGE_WAITING, "waiting" },   { STAGE_READY, "queued" },    { STAGE_REWORK, "queued" },
	{ STAGE_QUOTA, "queued" },      { STAGE_RUNNING, "running" }, { STAGE_CHECKING, "checking" },
	{ STAGE_QUEUED, "finished" },   { STAGE_DONE, "merged" },     { STAGE_ASKING, "asking" },
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

static int settle_one(
	struct context *c, const struct repo *r, const struct task *t, struct stage_row *s, bool *ret, struct err *e)
{
	const char *tip = *t->published ? t->published : t->base;

	*ret = false;
	if (strcmp(s->state, STAGE_QUEUED) != 0 || !*s->tip || !reach_has(r, tip, s->tip))
		return 0;
	if (context_store(c, e) < 0 || store_ticket_merged(c->store, s, STAGE_DONE, e) < 0)
		return -1;
	fault("ticket-merged");
	*ret = true;
	return 0;
}

int tickets_settle(struct context *c, const struct repo *r, const struct task *t, bool *ret_moved, struct err *e)
{
	auto_stage_row_list all = { 0 };
	bool moved, any = false;

	if (load(c, t, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (settle_one(c, r, t, &all.v[i], &moved, e) < 0)
			return -1;
		any |= moved;
	}
	if (ret_moved)
		*ret_moved = any;
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

int tickets_open(struct context *c, const struct repo *r, const struct task *t, struct buf *out, struct err *e)
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
