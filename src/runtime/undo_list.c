#include "runtime/undo.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "git/ref.h"
#include "runtime/resolve.h"
#include "store/plan.h"
#include "store/ticket.h"
#include "task/archive.h"
#include "task/here.h"
#include "task/lookup.h"
#include "task/remove.h"
#include "task/rename.h"

#define DEEDS_MAX   500
#define NAMES_SHOWN 8

void undo_list_release(struct undo_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		for (size_t j = 0; j < l->v[i].n; j++)
			deed_release(&l->v[i].deeds[j]);
		free(l->v[i].deeds);
		free(l->v[i].project);
		free(l->v[i].path);
		free(l->v[i].merged);
		free(l->v[i].solved);
		free(l->v[i].target);
	}
	free(l->v);
	free(l->plan);
	*l = (struct undo_list){ 0 };
}

static bool is_removal(const struct deed *d)
{
	return !strcmp(d->kind, "discard") || !strcmp(d->kind, "archive");
}

bool undo_came_with_merge(const struct deed *d)
{
	auto_discarded was = { 0 };
	struct err ignored = ERR_INIT;

	return is_removal(d) && !discarded_read(d, &was, &ignored) && was.merged;
}

/* Whether the merge is undone together with a removal that is earlier in the list. */
static bool is_part(const struct deed_list *l, size_t i)
{
	for (size_t j = 0; j < i && !strcmp(l->v[i].kind, "merge"); j++)
		if (l->v[j].task_id == l->v[i].task_id && undo_came_with_merge(&l->v[j]))
			return true;
	return false;
}

/* A removal is undone from the trash or an archive. If it came with a merge, at least the merge can be
 * undone. */
static bool is_gone(struct context *c, const struct deed *d)
{
	auto_str trash = xasprintf("trash/%lld", (long long)d->task_id);
	struct err none = ERR_INIT;
	auto_deed merge = { 0 };

	return is_removal(d) && faccessat(c->home.fd, trash, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	       !archive_holds(c, d->task_id) &&
	       (!undo_came_with_merge(d) || store_deed_of(c->store, d->task_id, "merge", &merge, &none) < 0);
}

static char *target_of(const struct deed *merge)
{
	json_t *o = json_loads(merge->data, 0, NULL);
	const char *target = NULL;
	char *ret;

	json_unpack(o, "{s:s}", "target", &target);
	ret = target ? xstrdup(ref_short(target)) : NULL;
	json_decref(o);
	return ret;
}

/* Whether it is the merge of a stage into its plan's own branch: the stage is done because that branch has its work, so only the
 * plan as a whole is taken back. *ret_plan is that plan's name, on the heap. */
static bool is_stage_merge(struct context *c, const struct deed *d, char **ret_plan)
{
	auto_str target = strcmp(d->kind, "merge") ? NULL : target_of(d), plan = NULL, branch = NULL;
	struct err none = ERR_INIT;
	auto_stage_row stage = { 0 };

	*ret_plan = NULL;
	if (!target || store_stage_of_task(c->store, d->task_id, &stage, &plan, &none) < 0)
		return false;
	branch = xasprintf("garth/%s", plan);
	if (strcmp(target, branch) != 0)
		return false;
	*ret_plan = steal_ptr(plan);
	return true;
}

/* A task whose conflict was solved in another one is removed by the merge of that one, and restored with it. The
 * removal is between that merge and what came with it. Returns l->n if there is none. */
static size_t find_solved(struct context *c, const struct deed_list *l, size_t i)
{
	struct err ignored = ERR_INIT;
	size_t found = l->n;
	int64_t id;

	if (!undo_came_with_merge(&l->v[i]) || resolve_of(c, l->v[i].task_id, &id, &ignored) < 0 || !id)
		return l->n;
	for (size_t j = i + 1; j < l->n; j++) {
		if (l->v[j].task_id == l->v[i].task_id && !strcmp(l->v[j].kind, "merge"))
			return found;
		if (l->v[j].task_id == id && is_removal(&l->v[j]) && !is_gone(c, &l->v[j]))
			found = j;
	}
	return l->n;
}

static struct undoable *add(struct undo_list *l, struct deed *d)
{
	struct undoable *u = NULL;

	for (size_t i = 0; d->batch && i < l->n; i++)
		if (l->v[i].deeds[0].batch == d->batch && l->v[i].deeds[0].project_id == d->project_id)
			u = &l->v[i];
	if (!u) {
		l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
		u = &l->v[l->n++];
		*u = (struct undoable){ 0 };
	}
	u->deeds = xrealloc(u->deeds, u->n + 1, sizeof(*u->deeds));
	u->deeds[u->n++] = *d;
	*d = (struct deed){ 0 };
	return u;
}

/* Moves the deeds of `l` to the list, and those that are undone together to one entry. */
static void add_all(struct context *c, struct deed_list *l, struct undo_list *ret)
{
	for (size_t i = 0; i < l->n; i++) {
		auto_str plan = NULL;
		struct undoable *u;
		size_t solved;

		if (l->v[i].undone)
			continue;
		if (is_stage_merge(c, &l->v[i], &plan)) {
			if (!ret->plan)
				ret->plan = steal_ptr(plan);
			continue;
		}
		solved = find_solved(c, l, i);
		u = add(ret, &l->v[i]);
		if (solved == l->n)
			continue;
		u->solved = xstrdup(l->v[solved].task);
		l->v[solved].undone = true;
	}
}

/* What the task's merge has merged: a plan, or a task with its tickets. NULL: only the task. */
static int name_merged(struct context *c, const struct deed *d, char **ret, struct err *e)
{
	auto_plan_row tickets = { 0 };
	auto_str plan = NULL;

	if (store_plan_by_task(c->store, d->task_id, &plan, e) < 0)
		return -1;
	if (plan)
		*ret = xasprintf("plan '%s'", plan);
	else if (!store_tickets_of(c->store, d->task_id, &tickets, e))
		*ret = xasprintf("task '%s'", d->task);
	return e->kind == ERR_NONE || e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
}

/* Whether the merge of a plan, or of a task with its tickets, is among them. */
static int find_merged(struct context *c, struct undoable *u, struct err *e)
{
	for (size_t i = 0; i < u->n && u->n > 1 && !u->merged; i++) {
		const struct deed *d = &u->deeds[i];
		struct err none = ERR_INIT;
		auto_deed merge = { 0 };

		if (!undo_came_with_merge(d) ||
			store_deed_of(c->store, d->task_id, "merge", &merge, &none) < 0)
			continue;
		if (name_merged(c, d, &u->merged, e) < 0)
			return -1;
		if (u->merged)
			u->target = target_of(&merge);
	}
	return 0;
}

static int complete(struct context *c, struct undoable *u, struct err *e)
{
	auto_project p = { 0 };

	if (store_project_by_id(c->store, u->deeds[0].project_id, &p, e) < 0)
		return -1;
	u->project = steal_ptr(p.name);
	u->path = steal_ptr(p.path);
	if (find_merged(c, u, e) < 0)
		return -1;
	u->gone = true;
	for (size_t i = 0; i < u->n; i++)
		u->gone = u->gone && is_gone(c, &u->deeds[i]);
	return 0;
}

/* The deeds of tasks with this name in one of the projects. */
static int list_in(struct context *c, const char *name, const struct project_list *projects,
	struct deed_list *ret, struct err *e)
{
	for (size_t i = 0; i < projects->n; i++) {
		auto_deed_list l = { 0 };

		if (store_deed_list(c->store, name, projects->v[i].id, DEEDS_MAX, &l, e) < 0)
			return -1;
		ret->v = xrealloc(ret->v, ret->n + l.n + 1, sizeof(*ret->v));
		for (size_t j = 0; j < l.n; j++) {
			ret->v[ret->n++] = l.v[j];
			l.v[j] = (struct deed){ 0 };
		}
	}
	return 0;
}

/* The deeds that the word can mean; NULL for those of the current project. */
static int list_meant(struct context *c, const char *word, int64_t here, struct deed_list *ret, struct err *e)
{
	auto_project_list projects = { 0 };
	const char *name = NULL;

	if (word && lookup_projects(c, word, &name, &projects, e) < 0)
		return -1;
	if (projects.n)
		return list_in(c, name, &projects, ret, e);
	if (store_deed_list(c->store, name, here, DEEDS_MAX, ret, e) < 0)
		return -1;
	/* a named task may be in another repository */
	if (name && !ret->n && here) {
		deed_list_release(ret);
		return store_deed_list(c->store, name, 0, DEEDS_MAX, ret, e);
	}
	return 0;
}

int undo_find(struct context *c, const char *task, struct undo_list *ret, struct err *e)
{
	auto_undo_list found = { 0 };
	auto_deed_list l = { 0 };

	if (context_store(c, e) < 0 || here_project(c, ".", &found.project, e) < 0 ||
		list_meant(c, task, found.project, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		/* is_part reads the entries before this one, so none is removed from the list yet */
		l.v[i].undone = is_part(&l, i);
	}
	add_all(c, &l, &found);
	for (size_t i = 0; i < found.n; i++)
		if (complete(c, &found.v[i], e) < 0)
			return -1;
	*ret = found;
	found = (struct undo_list){ 0 };
	return 0;
}

static void name_tasks(const struct undoable *u, struct buf *out)
{
	for (size_t i = 0; i < u->n && i < NAMES_SHOWN; i++)
		buf_printf(out, "%s%s", i ? ", " : "", u->deeds[u->n - 1 - i].task);
	if (u->n > NAMES_SHOWN)
		buf_printf(out, " and %zu more", u->n - NAMES_SHOWN);
}

char *undo_describe(const struct undoable *u)
{
	const struct deed *d = &u->deeds[0];
	auto_buf names = BUF_INIT(4096);
	auto_str was = NULL, target = NULL;

	if (u->n > 1) {
		name_tasks(u, &names);
		if (u->merged && u->target)
			return xasprintf("%s: its merge into %s and the removal of %zu tasks: %s", u->merged,
				u->target, u->n, buf_str(&names));
		return xasprintf("the removal of %zu tasks: %s", u->n, buf_str(&names));
	}
	if (u->solved)
		return xasprintf("the merge of task '%s', and the removal of '%s' and '%s'", d->task, d->task,
			u->solved);
	if (undo_came_with_merge(d))
		return xasprintf("the merge of task '%s', and its removal", d->task);
	if (!strcmp(d->kind, "rename") && (was = rename_old_name(d)))
		return xasprintf("the rename of task '%s' to '%s'", was, d->task);
	target = strcmp(d->kind, "merge") ? NULL : target_of(d);
	return target ? xasprintf("the merge of task '%s' into %s", d->task, target)
		      : xasprintf("the %s of task '%s'", d->kind, d->task);
}
