#include "merge/move.h"

#include <jansson.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "merge/branch_checkout.h"
#include "merge/followers.h"
#include "merge/git_commands.h"
#include "merge/record.h"
#include "merge/ref_lock.h"
#include "merge/update.h"
#include "sys/fault.h"

void move_result_release(struct move_result *r)
{
	strvec_release(&r->in_the_way);
	free(r->where);
	*r = (struct move_result){ 0 };
}

static const char *short_name(const struct journal *j)
{
	return strncmp(j->target, "refs/heads/", 11) ? j->target : j->target + 11;
}

/* What one move works on. */
struct moving {
	struct context *c;
	const struct repo *repo;
	struct journal *j;
	struct update *update;       /* NULL: the branch is checked out nowhere */
	struct followers *followers; /* … and of its submodules; NULL too */
	struct move_result *ret;
};

static char *reason_of(const struct journal *j)
{
	return xasprintf("garth %s: task '%s'", j->deed ? "undo" : "merge", j->name);
}

/* Submodules first: while the superproject's branch is where it was, all of it can be taken back. */
static int move_files(struct moving *m, struct err *e)
{
	if (!m->update)
		return 0;
	if (followers_swap(m->followers, &m->ret->in_the_way, &m->ret->where, e) < 0 ||
		update_swap(m->update, &m->ret->in_the_way, e) < 0 || update_index(m->update, e) < 0)
		return -1;
	fault("merge-tree");
	if (followers_commit(m->followers, e) < 0)
		return -1;
	fault("merge-submodules");
	return 0;
}

/* The second half: holds the ref while the files move; the ref moves last. */
static int move_held(struct moving *m, struct err *e)
{
	const struct journal *j = m->j;
	auto_str reason = reason_of(j);
	struct ref_lock_spec s = { .git_dir = m->update ? j->admin : m->repo->git_dir,
		.refs_in = m->repo->git_dir,
		.ref = j->target,
		.from = j->from,
		.to = j->to,
		.reason = reason };
	char now[OID_SIZE];
	auto_ref_lock h = NULL;

	if (ref_lock_take(&s, &h, e) < 0 || (m->update && followers_hold(m->followers, e) < 0))
		return -1;
	fault("merge-prepared");
	if (move_files(m, e) < 0)
		return -1;
	if (ref_lock_commit(h, e) < 0) {
		struct err ignored = ERR_INIT;

		/* git's answer may be lost although the ref has moved */
		ref_lock_drop(steal_ptr(h));
		if (ref_read(m->repo, j->target, now, &ignored) < 0 || strcmp(now, j->to))
			return -1;
	}
	fault("merge-moved");
	return 0;
}

static int move_checked(struct moving *m, struct err *e)
{
	auto_strvec left = STRVEC_INIT;

	if (record_intent(m->c, m->j, e) < 0)
		return -1;
	if (!move_held(m, e))
		return 0;
	if (m->update) {
		m->ret->half = !followers_revert(m->followers, &left);
		update_revert(m->update, &left);
	}
	record_failure(m->c, m->j, e);
	return -1;
}

/* With a checkout: checks and prepares everything before the audit line is written. */
static int move_with(struct moving *m, const struct branch_checkout *p, bool dry_run, struct err *e)
{
	auto_str reason = reason_of(m->j);
	auto_update u = UPDATE_INIT;
	struct journal *j = m->j;
	auto_followers f = { 0 };

	followers_open(j, reason, &f);
	m->followers = &f;
	m->update = &u;
	if (update_open(&u, m->repo, p, e) < 0 ||
		update_check(&u, j->target, j->from, j->to, &m->ret->in_the_way, e) < 0 ||
		followers_check(m->followers, &m->ret->in_the_way, &m->ret->where, e) < 0)
		return -1;
	if (dry_run)
		return 0;
	if (update_stage(&u, e) < 0 || followers_stage(m->followers, e) < 0)
		return -1;
	return move_checked(m, e);
}

static int move_journaled(struct context *c, const struct repo *r, struct journal *j,
	const struct branch_checkout *p, bool dry_run, struct move_result *ret, struct err *e)
{
	struct moving m = { c, r, j, .ret = ret };
	int rc;

	if (journal_write(&c->home, j, e) < 0)
		return -1;
	fault("merge-journal");
	if (p->top)
		rc = move_with(&m, p, dry_run, e);
	else
		rc = dry_run ? 0 : move_checked(&m, e);
	/* the journal stays, and merge_settle records the move later, or takes the rest of it back */
	if (!rc && !dry_run && record_done(c, r, j, e) < 0)
		return err_wrap(e, "%s has moved, but the store was not told", short_name(j));
	if (ret->half)
		return err_wrap(e, "not all of it is taken back yet (garth doctor --repair)");
	if (!rc && !dry_run)
		fault("merge-stored");
	journal_remove(&c->home, j->project);
	return rc;
}

int move_branch(struct context *c, const struct repo *r, struct journal *j, const struct links *links,
	bool dry_run, struct move_result *ret, struct err *e)
{
	auto_branch_checkout p = { 0 };

	if (branch_checkout_find(r, j->target, &p, e) < 0 ||
		(p.top && branch_checkout_check(&p, j->target, e) < 0))
		return -1;
	free(j->top);
	free(j->admin);
	j->top = xstrdup(p.top ? p.top : "");
	j->admin = xstrdup(p.admin ? p.admin : "");
	ret->where = xstrdup(j->top);
	if (followers_find(r, &p, links, j, e) < 0)
		return -1;
	return move_journaled(c, r, j, &p, dry_run, ret, e);
}

enum outcome { MOVED, NOT_MOVED, UNKNOWN };

static int look(const struct repo *r, const struct journal *j, enum outcome *ret, struct err *e)
{
	char now[OID_SIZE];
	bool has = false;

	if (ref_read(r, j->target, now, e) < 0)
		return -1;
	*ret = !strcmp(now, j->to) ? MOVED : !strcmp(now, j->from) ? NOT_MOVED : UNKNOWN;
	/* the branch has moved on from there; after an undo that cannot be recognized */
	if (*ret == UNKNOWN && *now && !j->deed) {
		if (verb_is_ancestor(r, j->to, now, &has, e) < 0)
			return -1;
		*ret = has ? MOVED : UNKNOWN;
	}
	return 0;
}

/* The submodules' HEADs have moved before the branch. If the branch has moved, nothing is left to do but to remove what
 * is beside the checkouts. */
static bool settle_followers(const struct journal *j, enum outcome outcome, struct strvec *left)
{
	auto_str reason = reason_of(j);
	auto_followers f = { 0 };

	followers_open(j, reason, &f);
	if (outcome == NOT_MOVED)
		return followers_revert(&f, left);
	for (size_t i = 0; i < f.n; i++) {
		struct err ignored = ERR_INIT;

		update_open(&f.v[i].update, &f.v[i].repo, &f.v[i].place, &ignored);
	}
	return true;
}

static int settle_checkout(const struct repo *r, const struct journal *j, enum outcome outcome,
	struct strvec *left, struct err *e)
{
	struct branch_checkout p = { j->top, j->admin };
	auto_update u = UPDATE_INIT;

	if (!settle_followers(j, outcome, left))
		return err_set(e, ERR_FAILED, "HEAD of a submodule cannot be moved back");
	/* if the checkout is gone, there is nothing to do */
	if (!*j->top || update_open(&u, r, &p, e) < 0)
		return 0;
	if (outcome == NOT_MOVED)
		update_revert(&u, left);
	return 0;
}

static void tell(
	const struct journal *j, enum outcome outcome, const struct strvec *left, struct strvec *lines)
{
	static const char *const words[] = { "finished", "taken back",
		"cut short, and the branch has moved since" };
	auto_buf text = BUF_SMALL;

	buf_printf(&text, "%s of '%s' into %s: %s", j->deed ? "taking back the merge" : "merge", j->name,
		short_name(j), words[outcome]);
	for (size_t i = 0; i < left->n; i++)
		buf_printf(&text, "%s%s", i ? ", " : "; left as the user made it: ", left->v[i]);
	strvec_push(lines, buf_str(&text));
}

int move_settle(struct context *c, int64_t project, struct strvec *lines, struct err *e)
{
	auto_strvec left = STRVEC_INIT;
	auto_project p = { 0 };
	auto_journal j = { 0 };
	auto_repo r = { 0 };
	enum outcome outcome;

	if (journal_read(&c->home, project, &j, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (context_store(c, e) < 0 || store_project_by_id(c->store, project, &p, e) < 0 ||
		repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(j.from) / 2, &r, e) < 0 ||
		look(&r, &j, &outcome, e) < 0 || settle_checkout(&r, &j, outcome, &left, e) < 0)
		return err_wrap(e, "the merge of task '%s' was cut short", j.name);
	if (outcome == MOVED && record_done(c, &r, &j, e) < 0)
		return -1;
	if (outcome != MOVED)
		record_failure(c, &j, e);
	tell(&j, outcome, &left, lines);
	journal_remove(&c->home, project);
	return 0;
}
