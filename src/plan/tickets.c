#include "plan/tickets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "plan/people.h"
#include "plan/stage_life.h"
#include "runtime/run.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/tickets.h"

/* The id of the plan; nobody sees it. */
#define PLAN_NAME "tickets"
/* How often a ticket is read again that its runner changes. */
#define WITHDRAW_TRIES 20

void tickets_release(struct tickets *t)
{
	task_at_close(&t->at);
	task_release(&t->task);
	plan_row_release(&t->row);
	stage_row_list_release(&t->all);
	strvec_release(&t->asked);
	strvec_release(&t->unmerged);
}

int tickets_load(struct tickets *t, struct err *e)
{
	plan_row_release(&t->row);
	stage_row_list_release(&t->all);
	strvec_release(&t->asked);
	if (context_store(t->c, e) < 0)
		return -1;
	if (store_tickets_of(t->c->store, t->task.id, &t->row, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (tickets_settle(t->c, &t->at.repo, &t->task, &t->unmerged, e) < 0)
		return -1;
	if (store_stage_list(t->c->store, t->row.id, &t->all, e) < 0)
		return -1;
	fault("tickets-listed");
	if (store_tickets_asked(t->c->store, t->row.id, &t->asked, e) < 0)
		return -1;
	/* tickets are only ever added, and at the end: those that came in between are left for the next time */
	while (t->asked.n > t->all.n)
		free(t->asked.v[--t->asked.n]);
	return t->all.n == t->asked.n ? 0 : err_set(e, ERR_BUSY, "the tickets were changed meanwhile");
}

int tickets_find(struct context *c, int64_t task, struct tickets *ret, struct err *e)
{
	*ret = (struct tickets)TICKETS_INIT;
	ret->c = c;
	if (task_find_id(c, task, &ret->task, e) < 0 || task_open(c, &ret->task, &ret->at, e) < 0 ||
		runtime_configure(c, &ret->task, e) < 0)
		return -1;
	return tickets_load(ret, e);
}

static json_t *stages_of(const struct strvec *asked, const char *more)
{
	json_t *list = json_array();

	for (size_t i = 0; i < asked->n; i++)
		json_array_append_new(list, json_loads(asked->v[i], 0, NULL));
	if (more)
		json_array_append_new(list, json_loads(more, 0, NULL));
	return list;
}

/* Stages with the same files run one after the other, each after the merge of the one before. That does not hold for
 * tickets: they would wait until the agent merges. */
static void forget_overlaps(struct plan *p)
{
	for (size_t i = 0; i < p->nstages; i++)
		p->stages[i].noverlaps = 0;
}

int tickets_plan(
	struct context *c, const struct plan_row *row, const char *more, struct plan *ret, struct err *e)
{
	const struct plan_host host = { 0 };
	auto_strvec asked = STRVEC_INIT;
	auto_str text = NULL;
	json_t *all;

	if (row->id && (context_store(c, e) < 0 || store_tickets_asked(c->store, row->id, &asked, e) < 0))
		return -1;
	all = json_pack("{s:s, s:I, s:o}", "plan_id", PLAN_NAME, "max_parallel",
		(json_int_t)c->config.tickets_at_once, "stages", stages_of(&asked, more));
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	if (!text)
		return err_set(e, ERR_FAILED, "the tickets cannot be read");
	if (plan_read(text, strlen(text), "ticket", ret, e) < 0 || plan_decide(ret, &host, e) < 0)
		return -1;
	forget_overlaps(ret);
	return 0;
}

long tickets_index(const struct tickets *t, const char *id)
{
	for (size_t i = 0; i < t->all.n; i++)
		if (!strcmp(t->all.v[i].name, id))
			return (long)i;
	return -1;
}

static bool goes(const struct stage_row *s)
{
	static const char *const going[] = { STAGE_READY, STAGE_RUNNING, STAGE_CHECKING, STAGE_REWORK,
		STAGE_QUOTA };

	for (size_t k = 0; k < ARRAY_SIZE(going); k++)
		if (stage_is(s, going[k]))
			return true;
	return false;
}

/* A ticket needs only those before it. */
static bool will_go(const struct stage_row_list *all, const struct plan_stage *asked, const bool *before)
{
	bool all_met = true;

	for (size_t k = 0; k < asked->nneeds; k++) {
		if (before[asked->needs[k]])
			return true;
		all_met &= stage_satisfies(&all->v[asked->needs[k]]);
	}
	return all_met;
}

bool tickets_go_on(const struct stage_row_list *all, const struct plan *p, bool *each)
{
	bool any = false;

	for (size_t i = 0; i < all->n; i++) {
		each[i] = goes(&all->v[i]) || (stage_is(&all->v[i], STAGE_WAITING) && i < p->nstages &&
						      will_go(all, &p->stages[i], each));
		any |= each[i];
	}
	return any;
}

static json_t *line_json(const char *text)
{
	auto_buf clean = BUF_INIT(8000);

	clean_line(&clean, text);
	return json_string(buf_str(&clean));
}

json_t *ticket_json(const struct tickets *t, size_t i, bool full)
{
	const struct stage_row *s = &t->all.v[i];
	json_t *asked = json_loads(t->asked.v[i], 0, NULL), *o;
	auto_str branch = xasprintf("garth/%s", s->task);

	o = json_pack("{s:s, s:s, s:s, s:s, s:O?, s:O?, s:o, s:s, s:O?}", "id", s->name, "task", s->task,
		"branch", branch, "state", ticket_state(s), "title", json_object_get(asked, "name"), "agent",
		json_object_get(asked, "agent"), "note", line_json(s->note), "tip", s->tip, "depends",
		json_object_get(asked, "dependencies"));
	if (full) {
		json_object_set(o, "prompt", json_object_get(asked, "description"));
		json_object_set(o, "files", json_object_get(asked, "files"));
		json_object_set(o, "acceptance", json_object_get(asked, "acceptance"));
		json_object_set(o, "timeout", json_object_get(asked, "timeout"));
	}
	json_decref(asked);
	return o;
}

static int tell(struct context *c, int64_t task, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, task, &dir, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	tickets_tell(dir);
	return 0;
}

int tickets_cancel(struct context *c, int64_t task, size_t *ret, struct err *e)
{
	auto_stage_row_list all = { 0 };
	auto_plan_row row = { 0 };

	*ret = 0;
	if (context_store(c, e) < 0)
		return -1;
	if (store_tickets_of(c->store, task, &row, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	/* the task must not be resumed when they are over */
	if ((row.waits && store_tickets_set_waits(c->store, row.id, 0, e) < 0) || tell(c, task, e) < 0 ||
		store_stage_list(c->store, row.id, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		struct stage_row *s = &all.v[i];

		/* a finished ticket has nothing that could be stopped */
		if (stage_is_over(s) || stage_is(s, STAGE_QUEUED))
			continue;
		if (people_cancel(c, s, e) < 0 && e->kind != ERR_BUSY)
			return -1;
		*ret += e->kind == ERR_NONE;
		*e = (struct err)ERR_INIT;
	}
	return 0;
}

/* *ret_found: the task is a ticket's. */
static int find_row(struct context *c, int64_t task, struct stage_row *ret, bool *ret_found, struct err *e)
{
	auto_str plan = NULL;
	int64_t parent = 0;

	*ret_found = false;
	if (context_store(c, e) < 0 || store_ticket_parent(c->store, task, &parent, e) < 0)
		return -1;
	if (!parent)
		return 0;
	*ret_found = true;
	return store_stage_of_task(c->store, task, ret, &plan, e);
}

static int withdraw_once(struct context *c, int64_t task, bool *ret, struct err *e)
{
	auto_stage_row s = { 0 };
	bool found = false;

	if (find_row(c, task, &s, &found, e) < 0)
		return -1;
	if (!found || stage_is_over(&s) || stage_is(&s, STAGE_QUEUED))
		return 0;
	s.starting = false;
	if (store_ticket_set_withdrawn(c->store, s.id, true, e) < 0 ||
		stage_move(c->store, &s, STAGE_CANCELLED, e, "the user cancelled it") < 0)
		return -1;
	*ret = true;
	/* ends what runs */
	return people_cancel(c, &s, e);
}

int ticket_withdraw(struct context *c, int64_t task, bool *ret, struct err *e)
{
	int rc = -1;

	*ret = false;
	for (int i = 0; i < WITHDRAW_TRIES; i++) {
		*e = (struct err)ERR_INIT;
		rc = withdraw_once(c, task, ret, e);
		if (!rc || e->kind != ERR_BUSY || *ret)
			break;
	}
	return rc;
}

int ticket_resumed(struct context *c, int64_t task, struct err *e)
{
	auto_stage_row s = { 0 };
	bool found = false;

	if (find_row(c, task, &s, &found, e) < 0)
		return -1;
	if (!found || (!stage_is(&s, STAGE_CANCELLED) && !stage_is(&s, STAGE_FAILED)))
		return 0;
	s.crashes = s.failures = s.waits = 0;
	if (store_ticket_set_withdrawn(c->store, s.id, false, e) < 0)
		return -1;
	return stage_move(c->store, &s, STAGE_RUNNING, e, "%s", "");
}
