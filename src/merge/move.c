#include "merge/move.h"

#include <jansson.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "merge/hold.h"
#include "merge/place.h"
#include "merge/record.h"
#include "merge/update.h"
#include "merge/verbs.h"
#include "sys/fault.h"

static const char *short_name(const struct journal *j)
{
	return strncmp(j->target, "refs/heads/", 11) ? j->target : j->target + 11;
}

/* The second half: holds the ref while the files move; the ref moves last. */
static int move_held(const struct repo *r, const struct journal *j, struct update *u,
	struct strvec *in_the_way, struct err *e)
{
	auto_str reason = xasprintf("garth %s: task '%s'", j->deed ? "undo" : "merge", j->name);
	struct hold_spec s = { u ? j->admin : r->git_dir, j->target, j->from, j->to, reason };
	char now[OID_SIZE];
	auto_hold h = NULL;

	if (hold_take(&s, &h, e) < 0)
		return -1;
	fault("merge-prepared");
	if (u && (update_swap(u, in_the_way, e) < 0 || update_index(u, e) < 0))
		return -1;
	fault("merge-tree");
	if (hold_commit(h, e) < 0) {
		struct err ignored = ERR_INIT;

		/* git's answer may be lost although the ref has moved */
		hold_drop(steal_ptr(h));
		if (ref_read(r, j->target, now, &ignored) < 0 || strcmp(now, j->to))
			return -1;
	}
	fault("merge-moved");
	return 0;
}

static int move_checked(struct context *c, const struct repo *r, struct journal *j, struct update *u,
	struct strvec *in_the_way, struct err *e)
{
	auto_strvec left = STRVEC_INIT;

	if (record_intent(c, j, e) < 0)
		return -1;
	if (!move_held(r, j, u, in_the_way, e))
		return 0;
	if (u)
		update_revert(u, &left);
	record_failure(c, j, e);
	return -1;
}

/* With a checkout: checks and prepares everything before the audit line is written. */
static int move_with(struct context *c, const struct repo *r, struct journal *j, const struct place *p,
	bool dry_run, struct strvec *in_the_way, struct err *e)
{
	auto_update u = UPDATE_INIT;

	if (update_open(&u, r, p, e) < 0 || update_check(&u, j->target, j->from, j->to, in_the_way, e) < 0)
		return -1;
	if (dry_run)
		return 0;
	if (update_stage(&u, e) < 0)
		return -1;
	return move_checked(c, r, j, &u, in_the_way, e);
}

static int move_journaled(struct context *c, const struct repo *r, struct journal *j, const struct place *p,
	bool dry_run, struct strvec *in_the_way, struct err *e)
{
	int rc;

	if (journal_write(&c->home, j, e) < 0)
		return -1;
	fault("merge-journal");
	if (p->top)
		rc = move_with(c, r, j, p, dry_run, in_the_way, e);
	else
		rc = dry_run ? 0 : move_checked(c, r, j, NULL, in_the_way, e);
	/* the journal stays, and merge_settle records the move later */
	if (!rc && !dry_run && record_done(c, r, j, e) < 0)
		return err_wrap(e, "%s has moved, but the store was not told", short_name(j));
	if (!rc && !dry_run)
		fault("merge-stored");
	journal_remove(&c->home, j->project);
	return rc;
}

int move_branch(struct context *c, const struct repo *r, struct journal *j, bool dry_run,
	struct strvec *in_the_way, struct err *e)
{
	auto_place p = { 0 };

	if (place_find(r, j->target, &p, e) < 0 || (p.top && place_check(&p, j->target, e) < 0))
		return -1;
	free(j->top);
	free(j->admin);
	j->top = xstrdup(p.top ? p.top : "");
	j->admin = xstrdup(p.admin ? p.admin : "");
	return move_journaled(c, r, j, &p, dry_run, in_the_way, e);
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

static void settle_checkout(const struct repo *r, const struct journal *j, enum outcome outcome,
	struct strvec *left, struct err *e)
{
	struct place p = { j->top, j->admin };
	auto_update u = UPDATE_INIT;

	/* if the checkout is gone, there is nothing to do */
	if (!*j->top || update_open(&u, r, &p, e) < 0)
		return;
	if (outcome == NOT_MOVED)
		update_revert(&u, left);
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
		look(&r, &j, &outcome, e) < 0)
		return err_wrap(e, "the merge of task '%s' was cut short", j.name);
	settle_checkout(&r, &j, outcome, &left, e);
	if (outcome == MOVED && record_done(c, &r, &j, e) < 0)
		return -1;
	if (outcome != MOVED)
		record_failure(c, &j, e);
	tell(&j, outcome, &left, lines);
	journal_remove(&c->home, project);
	return 0;
}
