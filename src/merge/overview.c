#include "merge/overview.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "merge/compare.h"
#include "merge/git_commands.h"
#include "merge/overview_git.h"
#include "task/life.h"
#include "task/tip.h"
#include "workspace/workspace.h"

/* The branch that some tasks are meant for. */
struct target {
	const struct task *first; /* the first task with it */
	char oid[OID_SIZE];       /* "" if it is gone */
	struct repo repo;         /* with git_dir NULL if it cannot be opened */
};

struct look {
	struct context *c;
	const struct task_list *tasks;
	const struct deadline *by;
	struct overview *v;
	struct target *targets;
	size_t ntargets;
	size_t *target_of;           /* of each task: an index, or SIZE_MAX */
	struct compared_pair *pairs; /* of each task: its tip and its target's commit; a is NULL for none */
};

static const char *tip_of(const struct task *t)
{
	return *t->published ? t->published : t->base;
}

static bool has_same_target(const struct task *a, const struct task *b)
{
	return a->project_id == b->project_id && !strcmp(a->target, b->target) &&
	       backend_of(a)->follows_remote == backend_of(b)->follows_remote;
}

static size_t find_target(struct look *l, const struct task *t)
{
	struct err ignored = ERR_INIT;
	struct target *new;

	for (size_t i = l->ntargets; i-- > 0;)
		if (has_same_target(l->targets[i].first, t))
			return i;
	l->targets = xrealloc(l->targets, l->ntargets + 1, sizeof(*l->targets));
	new = &l->targets[l->ntargets];
	*new = (struct target){ .first = t };
	if (!compare_open_repo(l->c, t, &new->repo, &ignored) &&
		compare_read_target(&new->repo, t, new->oid, &ignored) < 0)
		*new->oid = '\0';
	return l->ntargets++;
}

/* "AHEAD BEHIND FILES INSERTIONS DELETIONS FORK SUBJECT"; "-0" files if the diff is not known. */
static bool take_cached(const char *text, const struct task *t, struct overview *v)
{
	uintmax_t n[5] = { 0 };
	bool known = true;
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(n); i++, text = end) {
		if (i == 2 && !strncmp(text, " -", 2))
			known = false, text += 2;
		n[i] = strtoumax(text, &end, 10);
		if (end == text)
			return false;
	}
	if (*text++ != ' ' || !oid_take(text, (unsigned)strlen(t->base) / 2, v->fork))
		return false;
	text += strlen(v->fork);
	if (*text++ != ' ')
		return false;
	v->known = true;
	v->divergence.ahead = (size_t)n[0];
	v->divergence.behind = (size_t)n[1];
	v->diff_known = known;
	v->diff = (struct overview_diff){ (size_t)n[2], (size_t)n[3], (size_t)n[4] };
	v->subject = *t->published ? xstrdup(text) : NULL;
	return true;
}

static char *to_cache(const struct overview_tip *t, size_t behind)
{
	const struct overview_diff *d = &t->diff;

	if (d->files == SIZE_MAX)
		return xasprintf("%zu %zu -0 0 0 %s %s", t->ahead, behind, t->fork, t->subject);
	return xasprintf("%zu %zu %zu %zu %zu %s %s", t->ahead, behind, d->files, d->insertions, d->deletions,
		t->fork, t->subject);
}

/* For a task that merged the target itself: git finds the place where the two part. */
static bool place_slowly(const struct target *g, struct overview_tip *t)
{
	struct task as = *g->first;
	struct err ignored = ERR_INIT;
	size_t behind;

	as.published = as.branch = (char *)t->oid;
	if (verb_divergence(&g->repo, t->oid, g->oid, &t->ahead, &behind, &ignored) < 0)
		return false;
	tip_fork(&g->repo, &as, t->fork);
	return t->placed = true;
}

/* How many commits the target has that the tip does not. It depends on the fork alone, unless there are several
 * ways from the tip to the target. */
static bool find_behind(
	struct look *l, const struct target *g, const struct overview_tip *t, bool single, size_t *ret)
{
	const char *from = single ? t->fork : t->oid;
	auto_str known = NULL, found = NULL;
	struct err ignored = ERR_INIT;
	size_t ahead;

	if (!strcmp(from, g->oid))
		return *ret = 0, true;
	if (!store_compared(l->c->store, "ahead_behind", from, g->oid, &known, &ignored) &&
		sscanf(known, "%zu %zu", &ahead, ret) == 2)
		return true;
	if (!deadline_left(l->by) || verb_divergence(&g->repo, from, g->oid, &ahead, ret, &ignored) < 0)
		return false;
	found = xasprintf("%zu %zu", ahead, *ret);
	store_set_compared(l->c->store, "ahead_behind", from, g->oid, found, &ignored);
	return true;
}

/* Diffs that are known from before the target moved. */
static void recall_diffs(struct look *l, struct overview_tip *v, size_t n)
{
	struct compared_pair *pairs = xcalloc(n + 1, sizeof(*pairs));
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < n; i++)
		pairs[i] = (struct compared_pair){ .a = v[i].fork, .b = v[i].oid };
	store_compared_many(l->c->store, "diffstat", pairs, n, &ignored);
	for (size_t i = 0; i < n; i++) {
		struct overview_diff *d = &v[i].diff;

		if (v[i].placed && !v[i].ahead)
			v[i].measured = true;
		else if (v[i].placed && pairs[i].result)
			v[i].measured = sscanf(pairs[i].result, "%zu %zu %zu", &d->files, &d->insertions,
						&d->deletions) == 3;
		free(pairs[i].result);
	}
	free(pairs);
}

static void keep_diffs(struct look *l, const struct overview_tip *v, size_t n)
{
	struct compared_pair *pairs = xcalloc(n + 1, sizeof(*pairs));
	struct err ignored = ERR_INIT;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].measured && v[i].ahead)
			pairs[m++] = (struct compared_pair){ v[i].fork, v[i].oid,
				xasprintf("%zu %zu %zu", v[i].diff.files, v[i].diff.insertions,
					v[i].diff.deletions) };
	store_set_compared_many(l->c->store, "diffstat", pairs, m, &ignored);
	for (size_t i = 0; i < m; i++)
		free(pairs[i].result);
	free(pairs);
}

/* Answers the tips of one target, each in its pair. */
static void ask_git(
	struct look *l, const struct target *g, struct overview_tip *v, struct compared_pair *pairs, size_t n)
{
	bool *single = xcalloc(n + 1, sizeof(*single));
	struct err e = ERR_INIT;

	if (overview_subjects(&g->repo, v, n, l->by, &e) < 0 ||
		overview_place(&g->repo, g->oid, v, n, l->by, &e) < 0) {
		free(single);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		single[i] = v[i].placed;
		if (v[i].exists && !v[i].placed && deadline_left(l->by))
			place_slowly(g, &v[i]);
	}
	recall_diffs(l, v, n);
	overview_measure(&g->repo, v, n, l->by, &e);
	keep_diffs(l, v, n);
	for (size_t i = 0; i < n; i++) {
		size_t behind;

		if (v[i].measured && find_behind(l, g, &v[i], single[i], &behind))
			pairs[i].result = to_cache(&v[i], behind);
	}
	free(single);
}

/* Asks git about the tasks of one target that are not known yet. Tasks without commits on the same base are one
 * question. */
static void ask_target(struct look *l, size_t target)
{
	size_t all = l->tasks->n, n = 0;
	struct compared_pair *pairs = xcalloc(all + 1, sizeof(*pairs));
	struct overview_tip *tips = xcalloc(all + 1, sizeof(*tips));
	size_t *of = xcalloc(all + 1, sizeof(*of));
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < all; i++) {
		if (l->target_of[i] != target || l->v[i].known)
			continue;
		of[i] = n;
		if (n && !strcmp(pairs[n - 1].a, l->pairs[i].a))
			of[i] = n - 1;
		else
			pairs[n++] = l->pairs[i];
	}
	for (size_t i = 0; i < n; i++)
		tips[i].oid = pairs[i].a;
	if (n)
		ask_git(l, &l->targets[target], tips, pairs, n);
	for (size_t i = 0; i < all; i++)
		if (l->target_of[i] == target && !l->v[i].known && pairs[of[i]].result)
			take_cached(pairs[of[i]].result, &l->tasks->v[i], &l->v[i]);
	store_set_compared_many(l->c->store, "overview", pairs, n, &ignored);
	for (size_t i = 0; i < n; i++) {
		free(tips[i].subject);
		free(pairs[i].result);
	}
	free(pairs);
	free(tips);
	free(of);
}

/* Finds tips and targets without git, and what the store knows of them. */
static void recall(struct look *l)
{
	struct compared_pair *asked = xcalloc(l->tasks->n + 1, sizeof(*asked));
	size_t *at = xcalloc(l->tasks->n + 1, sizeof(*at)), n = 0;
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < l->tasks->n; i++) {
		const struct task *t = &l->tasks->v[i];

		l->target_of[i] = SIZE_MAX;
		if (t->removed || !*t->target || !backend_of(t)->has_git)
			continue;
		l->target_of[i] = find_target(l, t);
		if (!*l->targets[l->target_of[i]].oid) {
			l->target_of[i] = SIZE_MAX;
			continue;
		}
	}
	/* the targets are all there, so that their ids stay in place */
	for (size_t i = 0; i < l->tasks->n; i++) {
		if (l->target_of[i] == SIZE_MAX)
			continue;
		l->pairs[i] = (struct compared_pair){ .a = tip_of(&l->tasks->v[i]),
			.b = l->targets[l->target_of[i]].oid };
		if (!n || strcmp(asked[n - 1].a, l->pairs[i].a) || asked[n - 1].b != l->pairs[i].b)
			asked[n++] = l->pairs[i];
		at[i] = n - 1;
	}
	store_compared_many(l->c->store, "overview", asked, n, &ignored);
	for (size_t i = 0; i < l->tasks->n; i++) {
		struct overview *v = &l->v[i];

		if (l->target_of[i] == SIZE_MAX)
			continue;
		memcpy(v->divergence.target, l->pairs[i].b, OID_SIZE);
		if (asked[at[i]].result)
			take_cached(asked[at[i]].result, &l->tasks->v[i], v);
	}
	for (size_t i = 0; i < n; i++)
		free(asked[i].result);
	free(asked);
	free(at);
}

void overview_find(
	struct context *c, const struct task_list *tasks, const struct deadline *by, struct overview *v)
{
	struct look l = { .c = c, .tasks = tasks, .by = by, .v = v };
	struct conflict_list **lists = xcalloc(tasks->n + 1, sizeof(*lists));
	struct conflict_side *sides = xcalloc(tasks->n + 1, sizeof(*sides));
	bool *compared = xcalloc(tasks->n + 1, sizeof(*compared));
	struct err ignored = ERR_INIT;

	l.target_of = xcalloc(tasks->n + 1, sizeof(*l.target_of));
	l.pairs = xcalloc(tasks->n + 1, sizeof(*l.pairs));
	if (!context_store(c, &ignored)) {
		recall(&l);
		for (size_t i = 0; i < l.ntargets; i++)
			if (*l.targets[i].oid)
				ask_target(&l, i);
		for (size_t i = 0; i < tasks->n; i++) {
			lists[i] = &v[i].conflicts;
			sides[i] = (struct conflict_side){ .target = l.pairs[i].b,
				.fork = v[i].known ? v[i].fork : NULL,
				.nothing = v[i].known && !v[i].divergence.ahead };
		}
		conflicts_between(c, tasks, sides, by, lists, compared);
		for (size_t i = 0; i < tasks->n; i++)
			v[i].compared = compared[i];
	}
	for (size_t i = 0; i < l.ntargets; i++)
		repo_release(&l.targets[i].repo);
	free(l.targets);
	free(l.target_of);
	free(l.pairs);
	free(lists);
	free(sides);
	free(compared);
}

void overview_release(struct overview *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++) {
		free(v[i].subject);
		conflict_list_release(&v[i].conflicts);
	}
	free(v);
}
