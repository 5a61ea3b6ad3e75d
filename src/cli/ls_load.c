#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/ls.h"
#include "cli/progress.h"
#include "store/plan.h"
#include "sys/fd.h"
#include "task/agent_name.h"
#include "task/here.h"
#include "task/life.h"
#include "task/seen.h"
#include "task/task.h"
#include "workspace/workspace.h"

/* Git may take so long for what is not cached. */
#define GIT_MS 3000

#define ATTENTION "attention"

const char *const ls_states[] = { ATTENTION, STATE_BLOCKED, STATE_FAILED, STATE_INTERRUPTED, STATE_DONE,
	STATE_RUNNING, STATE_PAUSED, STATE_CREATED, STATE_CANCELLED, STATE_MERGED, STATE_DISCARDED,
	STATE_ARCHIVED, NULL };

int ls_check(const struct ls_query *q, struct err *e)
{
	auto_buf all = BUF_SMALL;

	for (size_t i = 0; i < q->states.n; i++) {
		size_t k = 0;

		while (ls_states[k] && strcmp(ls_states[k], q->states.v[i]) != 0)
			k++;
		if (ls_states[k])
			continue;
		for (k = 0; ls_states[k]; k++)
			buf_printf(&all, "%s%s", k ? ", " : "", ls_states[k]);
		return err_set(
			e, ERR_USAGE, "there is no state '%s': there are %s", q->states.v[i], buf_str(&all));
	}
	return 0;
}

/* A removed task is only listed if its state was asked for, or all are. */
static bool wants_removed(const struct ls_query *q)
{
	return q->removed || strvec_has(&q->states, STATE_DISCARDED) ||
	       strvec_has(&q->states, STATE_ARCHIVED);
}

static bool is_state(const struct task *t, const char *state)
{
	return !strcmp(t->state, state);
}

static enum ls_attention attention_of(const struct task *t, bool conflicts)
{
	if (t->removed || is_state(t, STATE_MERGED) || is_state(t, STATE_DISCARDING))
		return LS_OVER;
	if (is_state(t, STATE_BLOCKED))
		return LS_BLOCKED;
	if (is_state(t, STATE_FAILED) || is_state(t, STATE_INTERRUPTED) ||
		(is_state(t, STATE_PAUSED) && *t->note))
		return LS_FAILED;
	if (conflicts)
		return LS_CONFLICT;
	if (is_state(t, STATE_DONE) && !seen_is(t))
		return LS_UNSEEN;
	return life_is_running(t) ? LS_RUNNING : LS_IDLE;
}

bool ls_wants_attention(const struct ls_row *r)
{
	return r->attention <= LS_UNSEEN;
}

/* Cleans up after processes that died; tasks that turn out to be gone are removed from the list. */
static void settle_all(struct context *c, struct ls_view *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->tasks.n; i++) {
		struct task t = v->tasks.v[i];
		struct err e = ERR_INIT;
		bool gone = false;

		if (!t.removed && task_settle(c, &t, &gone, &e) < 0) {
			strvec_pushf(&v->warnings, "task '%s': %s", t.name, e.msg);
			gone = false;
		}
		if (gone)
			task_release(&t);
		else
			v->tasks.v[kept++] = t;
	}
	v->tasks.n = kept;
}

/* Tasks without a repository belong to every directory. */
static bool is_here(const struct task *t, int64_t here)
{
	return t->project_id == here || !backend_of(t)->has_git;
}

static bool any_here(const struct task_list *l, int64_t here)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].project_id == here)
			return true;
	return false;
}

/* Leaves the tasks of the current project, if it has any. */
static void keep_project(const struct ls_query *q, int64_t here, struct ls_view *v)
{
	size_t kept = 0;

	v->several = true;
	if (q->all_projects || !here)
		return;
	if (!any_here(&v->tasks, here)) {
		v->no_own = v->tasks.n > 0;
		return;
	}
	v->several = false;
	for (size_t i = 0; i < v->tasks.n; i++) {
		struct task *t = &v->tasks.v[i];

		if (is_here(t, here)) {
			v->tasks.v[kept++] = *t;
			continue;
		}
		v->elsewhere += attention_of(t, false) <= LS_UNSEEN;
		task_release(t);
	}
	v->tasks.n = kept;
}

static bool has_agent(struct context *c, const struct task *t, const char *agent)
{
	auto_str name = NULL, path = NULL;
	struct err ignored = ERR_INIT;
	size_t len = strcspn(t->command, " ");
	const char *slash;
	auto_fd dir = -1;

	if (!home_task_dir(&c->home, t->id, &dir, &ignored))
		name = agent_name_load(dir);
	if (name && !strcmp(name, agent))
		return true;
	path = xstrndup(t->command, len);
	slash = strrchr(path, '/');
	return !strcmp(slash ? slash + 1 : path, agent);
}

static bool is_wanted(struct context *c, const struct ls_query *q, const struct ls_row *r)
{
	if (q->states.n && !strvec_has(&q->states, r->task->state) &&
		!(strvec_has(&q->states, ATTENTION) && ls_wants_attention(r)))
		return false;
	return !q->agent || has_agent(c, r->task, q->agent);
}

static int64_t leader_of(const struct ls_row *r)
{
	return r->plan ? r->plan->id : r->task->id;
}

static int compare_ids(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Oldest first among those with the same reason, so that the rows of a watched list stay in place. A plan comes before
 * its stages. */
static int by_attention(const void *a, const void *b)
{
	const struct ls_row *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (leader_of(x) != leader_of(y))
		return compare_ids(leader_of(x), leader_of(y));
	if ((x->plan != NULL) != (y->plan != NULL))
		return x->plan ? 1 : -1;
	return compare_ids(x->task->id, y->task->id);
}

static struct ls_row *row_of(struct ls_view *v, int64_t task)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->rows[i].task->id == task)
			return &v->rows[i];
	return NULL;
}

/* Puts the stages of plans into the groups of their plans. Without the store, nothing is grouped. */
static void group(struct context *c, struct ls_view *v)
{
	struct err ignored = ERR_INIT;
	auto_stage_task_list stages = { 0 };

	if (context_store(c, &ignored) < 0 || store_stage_tasks(c->store, &stages, &ignored) < 0)
		return;
	for (size_t i = 0; i < stages.n; i++) {
		struct ls_row *plan = row_of(v, stages.v[i].plan_task), *stage = row_of(v, stages.v[i].task);

		if (!plan || !stage)
			continue;
		if (plan == stage) {
			plan->is_plan = true;
			continue;
		}
		stage->plan = plan->task;
		if (stage->attention < plan->group)
			plan->group = stage->attention;
	}
	for (size_t i = 0; i < v->n; i++)
		if (v->rows[i].plan)
			v->rows[i].group = row_of(v, v->rows[i].plan->id)->group;
}

static void make_rows(struct context *c, const struct ls_query *q, struct ls_view *v)
{
	v->rows = xcalloc(v->tasks.n + 1, sizeof(*v->rows));
	for (size_t i = 0; i < v->tasks.n; i++) {
		const struct task *t = &v->tasks.v[i];
		const struct overview *o = &v->about[i];
		struct ls_row r = { .task = t,
			.about = o,
			.standing = { .known = o->known,
				.divergence = o->divergence,
				.conflicts = o->conflicts },
			.attention = attention_of(t, o->conflicts.n > 0) };

		r.group = r.attention;

		v->incomplete |= !o->compared;
		if (is_wanted(c, q, &r))
			v->rows[v->n++] = r;
	}
	group(c, v);
	if (v->n)
		qsort(v->rows, v->n, sizeof(*v->rows), by_attention);
}

int ls_load(struct context *c, const struct ls_query *q, struct ls_view *ret, struct err *e)
{
	struct deadline by = deadline_in(GIT_MS);
	auto_ls_view v = { 0 };
	int64_t here;

	if (context_store(c, e) < 0 || here_project(c, ".", &here, e) < 0 ||
		store_task_list(c->store, wants_removed(q), &v.tasks, e) < 0)
		return -1;
	settle_all(c, &v);
	keep_project(q, here, &v);
	v.about = xcalloc(v.tasks.n + 1, sizeof(*v.about));
	if (!q->silent)
		progress_begin("comparing branches");
	overview_find(c, &v.tasks, &by, v.about);
	if (!q->silent)
		progress_end();
	make_rows(c, q, &v);
	*ret = v;
	v = (struct ls_view){ 0 };
	return 0;
}

void ls_release(struct ls_view *v)
{
	overview_release(v->about, v->tasks.n);
	task_list_release(&v->tasks);
	free(v->rows);
	strvec_release(&v->warnings);
	*v = (struct ls_view){ 0 };
}

void ls_count(const struct ls_view *v, size_t *ret_wanting, size_t *ret_running)
{
	*ret_wanting = *ret_running = 0;
	for (size_t i = 0; i < v->n; i++) {
		*ret_wanting += ls_wants_attention(&v->rows[i]);
		*ret_running += is_state(v->rows[i].task, STATE_RUNNING);
	}
}
