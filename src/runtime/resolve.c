#include "runtime/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/name.h"
#include "runtime/choose_network.h"
#include "runtime/gateway_client.h"
#include "runtime/run.h"
#include "sys/fd.h"
#include "task/agent_name.h"
#include "task/life.h"
#include "task/network.h"

static char *fact_of(const struct task *t)
{
	return xasprintf("resolution/%lld", (long long)t->id);
}

static int record(struct context *c, const struct task *t, const struct task *in, struct err *e)
{
	auto_str key = fact_of(t), value = xasprintf("#%lld", (long long)in->id);
	auto_audit log = NULL;

	if (audit_open(c->home.fd, c->store, &log, e) < 0 ||
		audit_add(log, "resolve", t, json_pack("{s:s}", "in", in->name), e) < 0)
		return -1;
	return store_set_fact(c->store, key, value, e);
}

/* git inside begins the merge and stops at the conflicts. */
static int begin_inside(struct context *c, struct task *r, const struct task *t, struct err *e)
{
	char *argv[] = { "/usr/bin/git", "merge", "-q", "--no-ff", "--no-commit", t->branch, NULL };
	auto_strvec env = STRVEC_INIT;
	struct run_opts o = { .env = &env };
	int rc, code;

	/* the hook must not ask the gateway about this commit */
	strvec_push(&env, "GARTH_GATEWAY=1");
	if (runtime_network(c, r, NULL, NULL, &o, e) < 0)
		return -1;
	rc = runtime_wait(c, r, &o, argv, &code, e);
	network_release(&o.net);
	return rc;
}

/* The resolution task gets the same agent and network, so the agent that made the conflict can solve it; and may change what
 * the user allowed there, as it has those changes. */
static int pass_on(struct context *c, const struct task *from, const struct task *to, struct err *e)
{
	auto_fd old = -1, new = -1;
	struct err ignored = ERR_INIT;
	auto_str agent = NULL;
	auto_network n = { 0 };

	if (home_task_dir(&c->home, from->id, &old, e) < 0 || home_task_dir(&c->home, to->id, &new, e) < 0 ||
		context_store(c, e) < 0 || store_allow_also(c->store, from->id, to->id, e) < 0)
		return -1;
	agent = agent_name_load(old);
	if (agent && agent_name_save(new, agent, e) < 0)
		return -1;
	return network_load(old, false, &n, &ignored) < 0 ? 0 : network_save(new, true, &n, e);
}

int resolve_begin(
	struct context *c, struct task *t, const struct merge_spec *s, char **ret_name, struct err *e)
{
	struct merge_spec look = *s;
	auto_merge_result m = { 0 };
	auto_project p = { 0 };
	auto_task r = { 0 };
	auto_str name = xasprintf("%.*s-resolve", NAME_MAX_LEN - (int)strlen("-resolve"), t->name);
	struct task_spec spec = { .name = name, .program = name, .also_shown = t->branch };

	look.dry_run = true;
	if (!merge_task(c, t, &look, &m, e))
		return err_set(e, ERR_REFUSED, "task '%s' does not conflict with its target", t->name),
		       err_hint(e, "garth merge %s", t->name);
	if (e->kind != ERR_CONFLICT || !m.conflicts.n)
		return -1;
	*e = (struct err)ERR_INIT;
	if (store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	spec.dir = p.path;
	spec.rev = m.target ? m.target : t->target;
	if (task_create(c, &spec, &r, e) < 0 || record(c, t, &r, e) < 0 || pass_on(c, t, &r, e) < 0 ||
		begin_inside(c, &r, t, e) < 0)
		return -1;
	*ret_name = steal_ptr(name);
	return 0;
}

/* Checks that the solution contains all of the task's commits. */
static int check_solved(struct context *c, struct task *t, struct task *r, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;
	struct git g;

	if (task_open(c, r, &at, e) < 0)
		return -1;
	g = repo_git(&at.repo);
	if (!git_do(&g, NULL, &ignored, "merge-base", "--is-ancestor", t->branch, r->branch, NULL))
		return 0;
	err_set(e, ERR_REFUSED, "the conflict is not solved in '%s' yet, or not committed", r->name);
	return err_hint(e, "garth shell %s", r->name);
}

/* Resumes a task that was paused because of the conflict. */
static int resume(struct context *c, struct task *t, struct err *e)
{
	json_t *answer = NULL;

	if (gateway_ask(c, t, "/user/v1/resume", json_object(), &answer, e) < 0)
		return -1;
	json_decref(answer);
	return 0;
}

/* The fact that names the task merged with a resolution: "<id> <state before>". */
static char *solved_by(int64_t in)
{
	return xasprintf("solved/%lld", (long long)in);
}

static int mark_merged(
	struct context *c, struct task *t, const struct task *in, const char *result, struct err *e)
{
	auto_str key = solved_by(in->id), was = xasprintf("%lld %s", (long long)t->id, t->state);

	if (store_begin(c->store, e) < 0)
		return -1;
	if (!store_set_fact(c->store, key, was, e) &&
		!store_landed_add(c->store, t->id, t->published, result, e) &&
		!life_move(c->store, t, STATE_MERGED, e) && !store_commit(c->store, e))
		return 0;
	store_rollback(c->store);
	return -1;
}

int resolve_merged(
	struct context *c, struct task *t, const struct task *in, const char *result, struct err *e)
{
	if (context_store(c, e) < 0)
		return -1;
	return life_is_running(t) || !strcmp(t->state, STATE_MERGED) ? 0 : mark_merged(c, t, in, result, e);
}

/* Finds the task in which a conflict is solved. Earlier versions stored its name. */
static int find_solution(
	struct context *c, const struct task *t, const char *value, struct task *ret, struct err *e)
{
	auto_task by_name = { 0 };

	if (value[0] == '#')
		return task_find_id(c, strtoll(value + 1, NULL, 10), ret, e);
	if (store_task_by_name(c->store, t->project_id, value, &by_name, e) < 0)
		return -1;
	return task_find_id(c, by_name.id, ret, e);
}

int resolve_continue(struct context *c, struct task *t, const struct merge_spec *s, struct merge_result *ret,
	struct task *ret_in, struct err *e)
{
	auto_str key = fact_of(t), value = NULL;
	auto_task r = { 0 };

	if (context_store(c, e) < 0)
		return -1;
	if (store_fact(c->store, key, &value, e) < 0)
		return e->kind != ERR_NOTFOUND
			       ? -1
			       : (err_set(e, ERR_NOTFOUND, "no conflict of task '%s' is being solved",
					  t->name),
					 err_hint(e, "garth merge --resolve %s", t->name));
	if (find_solution(c, t, value, &r, e) < 0 || check_solved(c, t, &r, e) < 0 ||
		merge_task(c, &r, s, ret, e) < 0)
		return -1;
	if (!strcmp(t->state, STATE_PAUSED)) {
		if (resume(c, t, e) < 0)
			return -1;
	} else if (!life_is_running(t) && strcmp(t->state, STATE_MERGED) &&
		   (!*t->target || !strcmp(t->target, ret->target))) {
		if (mark_merged(c, t, &r, ret->new_oid, e) < 0)
			return -1;
	}
	*ret_in = r;
	r = (struct task){ 0 };
	return 0;
}

static int read_solved(struct context *c, int64_t in, int64_t *ret, char **ret_state, struct err *e)
{
	auto_str key = solved_by(in), was = NULL;
	char *state;

	*ret = 0;
	if (context_store(c, e) < 0)
		return -1;
	if (store_fact(c->store, key, &was, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	*ret = strtoll(was, &state, 10);
	if (ret_state && *state == ' ')
		*ret_state = xstrdup(state + 1);
	return 0;
}

int resolve_of(struct context *c, int64_t in, int64_t *ret, struct err *e)
{
	return read_solved(c, in, ret, NULL, e);
}

int resolve_taken_back(struct context *c, int64_t in, struct err *e)
{
	auto_str state = NULL;
	int64_t id;

	if (read_solved(c, in, &id, &state, e) < 0)
		return -1;
	/* ERR_BUSY: its state has changed since */
	if (id && state && store_task_move(c->store, id, STATE_MERGED, state, e) < 0 && e->kind != ERR_BUSY)
		return -1;
	return 0;
}
