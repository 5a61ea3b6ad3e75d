#include "push/push.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/deadline.h"
#include "base/size.h"
#include "base/name.h"
#include "base/shell_word.h"
#include "git/reach.h"
#include "git/ref.h"
#include "merge/compose.h"
#include "merge/protected.h"
#include "git/remote.h"
#include "push/outgoing.h"
#include "push/unpushed.h"
#include "sys/fault.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/merged.h"
#include "task/refs.h"
#include "task/tip.h"

/* The delay between two tries is random, between this and twice this. It doubles with each try. */
#define WAIT_MS     50
#define WAIT_MAX_MS 3000
#define SAME_MAX    2

struct push {
	struct context *context;
	struct repo repo;
	struct task *task;
	struct push_result *result;
	char *fetched; /* a temporary ref for the remote's branch */
	char had[OID_SIZE];
	unsigned same; /* how often in a row the remote said that its branch had moved, and it had not */
};

void push_result_release(struct push_result *r)
{
	free(r->remote);
	free(r->branch);
	strvec_release(&r->conflicts);
	strvec_release(&r->lfs);
	*r = (struct push_result){ 0 };
}

static int record(struct push *p, const char *event, const struct err *why, struct err *e)
{
	const struct push_result *r = p->result;
	auto_audit a = NULL;
	json_t *o = json_pack("{s:o, s:o, s:s}", "remote", audit_text(r->remote), "branch",
		audit_text(r->branch), "tip", r->tip);

	if (r->tries)
		json_object_set_new(o, "tries", json_integer(r->tries));
	if (why)
		json_object_set_new(o, "error", audit_text(why->msg));
	else if (r->tries)
		json_object_set_new(o, "new", json_string(r->new_oid));
	if (audit_open(p->context->home.fd, p->context->store, &a, e) < 0)
		return json_decref(o), -1;
	return audit_add(a, event, p->task, o, e);
}

static void wait_a_moment(unsigned tries)
{
	unsigned long ms = WAIT_MS, random = 0;
	struct deadline d;

	for (unsigned i = 1; i < tries && ms < WAIT_MAX_MS; i++)
		ms *= 2;
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (unsigned long)clock();
	ms += random % ms;
	d = deadline_in((int64_t)ms);
	deadline_sleep(&d, (int)ms);
}

static void hint_pull(const struct push *p, const struct push_result *r, struct err *e)
{
	auto_str remote = shell_word(r->remote), branch = shell_word(r->branch);

	err_hint(e, "git pull %s %s && garth merge --resolve %s", remote, branch, p->task->name);
}

/* Rebases the task's commits onto the remote's branch. */
static int rebase(struct push *p, struct err *e)
{
	static const struct merge_spec spec = { .kind = MERGE_REBASE };
	struct push_result *r = p->result;
	char old[OID_SIZE];
	struct compose m = {
		.repo = &p->repo, .spec = &spec, .task = p->task->name, .old = old, .tip = r->tip
	};
	char count[COUNT_TEXT_MAX];

	if (remote_fetch(&p->repo, r->remote, r->branch, p->fetched, old, e) < 0)
		return -1;
	p->same = r->tries > 1 && !strcmp(old, p->had) ? p->same + 1 : 0;
	snprintf(p->had, sizeof(p->had), "%s", old);
	/* the remote's branch was removed meanwhile */
	if (!*old)
		return snprintf(r->new_oid, sizeof(r->new_oid), "%s", r->tip), 0;
	if (compose_run(&m, &r->conflicts, e) < 0) {
		if (!r->conflicts.n)
			return -1;
		err_set(e, ERR_CONFLICT, "cannot push task '%s': %s file%s with %s of '%s'", p->task->name,
			count_text(r->conflicts.n, count), r->conflicts.n == 1 ? " conflicts" : "s conflict",
			r->branch, r->remote);
		/* if it is the task's target, the user can resolve the conflict in the local branch */
		if (!strncmp(p->task->target, "refs/heads/", 11) && !strcmp(p->task->target + 11, r->branch))
			hint_pull(p, r, e);
		return err_paths(e, &r->conflicts);
	}
	r->nothing = m.nothing;
	snprintf(r->new_oid, sizeof(r->new_oid), "%s", m.new_oid);
	return m.nothing ? 0 : protected_check(p->context, &p->repo, p->task, old, m.new_oid, NULL, e);
}

static int try_until_taken(struct push *p, unsigned retries, struct err *e)
{
	struct push_result *r = p->result;
	struct err why = ERR_INIT;
	enum remote_answer answer;

	snprintf(r->new_oid, sizeof(r->new_oid), "%s", r->tip);
	while (!r->nothing) {
		r->tries++;
		fault("push-try");
		if (remote_push(&p->repo, r->remote, r->new_oid, r->branch, &answer, &why, e) < 0)
			return -1;
		r->nothing = answer == REMOTE_HAS_IT;
		if (answer != REMOTE_OVERTAKEN)
			return 0;
		if (r->tries > retries)
			return err_set(e, ERR_CONFLICT, "branch '%s' of '%s' moved during each of %u tries",
				r->branch, r->remote, r->tries);
		wait_a_moment(r->tries);
		if (rebase(p, e) < 0)
			return -1;
		/* the branch had not moved: the remote refuses for another reason */
		if (p->same >= SAME_MAX)
			return *e = why, -1;
	}
	return 0;
}

static int find_tip(struct push *p, struct err *e)
{
	auto_strvec tips = STRVEC_INIT, base = STRVEC_INIT;
	const struct task *t = p->task;
	char *tip = p->result->tip;

	if (ref_read(&p->repo, t->branch, tip, e) < 0)
		return -1;
	if (*tip && strcmp(tip, t->base)) {
		strvec_push(&tips, tip);
		strvec_push(&base, t->base);
		return reach_count(&p->repo, &tips, &base, &p->result->commits, e);
	}
	return tip_refuse_unpublished(t, e);
}

int push_check_branch(const char **name, const struct task *task, struct err *e)
{
	if (!strncmp(*name, "refs/heads/", 11))
		*name += 11;
	if (!name_is_branch(*name))
		return err_set(e, ERR_USAGE, "'%s' is not a branch's name", *name);
	if (strncmp(*name, "garth/", 6) || (task && !strcmp(*name, ref_short(task->branch))))
		return 0;
	return err_set(e, ERR_REFUSED, "'%s' is the branch of %s task", *name, task ? "another" : "a");
}

static int choose(struct push *p, const struct push_spec *s, struct err *e)
{
	struct push_result *r = p->result;
	const char *branch = s->branch ? s->branch : p->task->branch;

	if (push_check_branch(&branch, p->task, e) < 0)
		return -1;
	r->branch = xstrdup(branch);
	return remote_require(&p->repo, s->remote, &r->remote, e);
}

/* A pushed task is not merged, unless it is a clone whose target is the remote's branch. */
static int settle(struct push *p, struct err *e)
{
	const struct push_result *r = p->result;
	struct store *s = p->context->store;
	struct err ignored = ERR_INIT;
	struct task *t = p->task;

	if (store_begin(s, e) < 0)
		return -1;
	if (store_task_pushed(s, t->id, r->remote, r->branch, r->tip, e) < 0 ||
		store_landed_add(s, t->id, r->tip, r->new_oid, e) < 0 || store_commit(s, e) < 0)
		return store_rollback(s), -1;
	if (!life_is_running(t) && life_allows(t->state, STATE_MERGED) && merged_is(p->context, t))
		life_move(s, t, STATE_MERGED, &ignored);
	return 0;
}

static int push_locked(struct push *p, const struct push_spec *s, struct err *e)
{
	struct err why = ERR_INIT, ignored = ERR_INIT;
	auto_ref_txn drop = REF_TXN_INIT;
	int rc;

	if (s->before)
		s->before(p->task, p->result);
	if (record(p, "push", NULL, e) < 0)
		return -1;
	rc = try_until_taken(p, s->retries, e);
	why = *e;
	ref_remove(&drop, p->fetched, NULL);
	ref_commit(&p->repo, &drop, &ignored);
	fault("push-taken");
	if (rc < 0) {
		record(p, "push-failed", &why, &ignored);
		return -1;
	}
	if (settle(p, e) < 0)
		return -1;
	return record(p, "pushed", NULL, e);
}

/* What git does not push, and the commits need. */
static int check_beside(struct push *p, struct err *e)
{
	struct push_result *r = p->result;
	struct unpushed u = { .remote = r->remote,
		.base = p->task->base,
		.tip = r->tip,
		.branch = p->task->branch,
		.scratch = p->fetched };

	/* before the push: after it, the remote's branch has the commits */
	outgoing_lfs(&p->repo, r->remote, p->task->base, r->tip, &r->lfs);
	return unpushed_check(&p->repo, &u, e);
}

int push_task(
	struct context *c, struct task *t, const struct push_spec *s, struct push_result *ret, struct err *e)
{
	auto_str lock_name = xasprintf("push-%lld.lock", (long long)t->project_id);
	struct push p = { .context = c, .task = t, .result = ret };
	auto_project project = { 0 };
	auto_lock lock = -1;
	int rc = -1;

	*ret = (struct push_result){ 0 };
	p.fetched = refs_fetched(&c->home);
	/* one push at a time: tasks of one project must not overtake each other */
	if (!context_store(c, e) && !store_project_by_id(c->store, t->project_id, &project, e) &&
		!repo_open_git_dir(
			project.git_dir, project.path, (unsigned)strlen(t->base) / 2, &p.repo, e) &&
		!choose(&p, s, e) && !find_tip(&p, e) && !check_beside(&p, e) &&
		!lock_take(c->home.fd, lock_name, true, &lock, e))
		rc = push_locked(&p, s, e);
	repo_release(&p.repo);
	free(p.fetched);
	return rc;
}
