#include "merge/followers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/run.h"
#include "sys/fault.h"

void followers_open(const struct journal *j, const char *reason, struct followers *ret)
{
	*ret = (struct followers){ .v = xcalloc(j->links.n + 1, sizeof(*ret->v)), .reason = reason };
	for (size_t i = 0; i < j->links.n; i++) {
		const struct journal_link *l = &j->links.v[i];
		struct follower *p = &ret->v[ret->n];
		struct err ignored = ERR_INIT;

		if (strcmp(l->how, "moved") != 0)
			continue;
		*p = (struct follower){ .link = l, .update = UPDATE_INIT };
		if (repo_open_git_dir(l->git_dir, l->top, (unsigned)strlen(l->from) / 2, &p->repo, &ignored) <
			0)
			continue;
		p->repo.submodule = true;
		p->place = (struct branch_checkout){ xstrdup(l->top), xstrdup(l->admin) };
		ret->n++;
	}
}

void followers_release(struct followers *p)
{
	for (size_t i = 0; i < p->n; i++) {
		ref_lock_drop(p->v[i].hold);
		update_close(&p->v[i].update);
		branch_checkout_release(&p->v[i].place);
		repo_release(&p->v[i].repo);
	}
	free(p->v);
	*p = (struct followers){ 0 };
}

/* Paths of the submodule as paths of the superproject. */
static void report(
	const struct follower *p, const struct strvec *way, struct strvec *in_the_way, char **where)
{
	if (!way->n)
		return;
	for (size_t i = 0; i < way->n; i++)
		strvec_pushf(in_the_way, "%s/%s", p->link->path, way->v[i]);
	free(*where);
	*where = xstrdup(p->place.top);
}

/* HEAD as followers_find saw it. */
static int check_head(const struct follower *p, struct err *e)
{
	auto_str branch = NULL;
	char now[OID_SIZE];

	if (follower_head(&p->place, &p->repo, &branch, now, e) < 0)
		return -1;
	return strcmp(branch, p->link->head) || strcmp(now, p->link->from)
		       ? err_set(e, ERR_BUSY, "'%s' is being switched to another commit", p->place.top)
		       : 0;
}

int followers_check(struct followers *p, struct strvec *in_the_way, char **where, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct follower *x = &p->v[i];
		auto_strvec way = STRVEC_INIT;

		if (update_open(&x->update, &x->repo, &x->place, e) < 0 ||
			update_check(&x->update, *x->link->head ? x->link->head : NULL, x->link->from,
				x->link->to, &way, e) < 0)
			return report(x, &way, in_the_way, where),
			       err_wrap(e, "submodule '%s'", x->link->path);
	}
	return 0;
}

int followers_stage(struct followers *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (update_stage(&p->v[i].update, e) < 0)
			return err_wrap(e, "submodule '%s'", p->v[i].link->path);
	return 0;
}

int followers_hold(struct followers *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct follower *x = &p->v[i];
		bool detached = !*x->link->head;
		struct ref_lock_spec s = { .git_dir = x->place.admin,
			.ref = detached ? "HEAD" : x->link->head,
			.from = x->link->from,
			.to = x->link->to,
			.reason = p->reason,
			.no_deref = detached };

		/* HEAD is locked now, and cannot change after it is compared */
		if (ref_lock_take(&s, &x->hold, e) < 0 || check_head(x, e) < 0)
			return err_wrap(e, "submodule '%s'", x->link->path);
	}
	return 0;
}

int followers_swap(struct followers *p, struct strvec *in_the_way, char **where, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct follower *x = &p->v[i];
		auto_strvec way = STRVEC_INIT;

		if (update_swap(&x->update, &way, e) < 0 || update_index(&x->update, e) < 0)
			return report(x, &way, in_the_way, where),
			       err_wrap(e, "submodule '%s'", x->link->path);
	}
	return 0;
}

/* Whether HEAD is as the journal has it, at this commit. */
static bool is_at(const struct follower *p, const char *commit)
{
	struct err ignored = ERR_INIT;
	auto_str branch = NULL;
	char now[OID_SIZE];

	return !follower_head(&p->place, &p->repo, &branch, now, &ignored) &&
	       !strcmp(branch, p->link->head) && !strcmp(now, commit);
}

int followers_commit(struct followers *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct follower *x = &p->v[i];
		int rc = ref_lock_commit(x->hold, e);

		ref_lock_drop(steal_ptr(x->hold));
		/* git's answer may be lost although HEAD has moved */
		if (rc < 0 && !is_at(x, x->link->to))
			return err_wrap(e, "submodule '%s'", x->link->path);
		fault("merge-submodule");
	}
	return 0;
}

/* Moves HEAD back, if it has moved. */
static bool head_back(const struct follower *p, const char *reason, struct strvec *left)
{
	bool detached = !*p->link->head;
	struct ref_lock_spec s = { .git_dir = p->place.admin,
		.ref = detached ? "HEAD" : p->link->head,
		.from = p->link->to,
		.to = p->link->from,
		.reason = reason,
		.no_deref = detached };
	struct err ignored = ERR_INIT;
	auto_ref_lock h = NULL;

	if (is_at(p, p->link->from))
		return true;
	if (!is_at(p, p->link->to)) {
		strvec_pushf(left, "HEAD of %s", p->link->path);
		return true;
	}
	return !ref_lock_take(&s, &h, &ignored) && is_at(p, p->link->to) && !ref_lock_commit(h, &ignored);
}

bool followers_revert(struct followers *p, struct strvec *left)
{
	bool done = true;

	for (size_t i = p->n; i-- > 0;) {
		struct follower *x = &p->v[i];
		auto_strvec own = STRVEC_INIT;
		struct err ignored = ERR_INIT;

		ref_lock_drop(steal_ptr(x->hold));
		done &= head_back(x, p->reason, left);
		/* after a crash it is not open yet */
		if (x->update.admin >= 0 || !update_open(&x->update, &x->repo, &x->place, &ignored))
			update_revert(&x->update, &own);
		for (size_t k = 0; k < own.n; k++)
			strvec_pushf(left, "%s/%s", x->link->path, own.v[k]);
	}
	return done;
}
