#include <jansson.h>

#include "base/alloc.h"
#include "base/shell_word.h"
#include "base/size.h"
#include "git/ref.h"
#include "merge/merge.h"
#include "merge/move.h"
#include "merge/verbs.h"
#include "sys/lock.h"

#define KEPT_MAX 100

static char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return xstrdup(s ? s : "");
}

/* Makes the journal of the undo: from the merge's result to the commit before. */
static int read_deed(const struct deed *d, struct journal *j, struct err *e)
{
	json_t *o = json_loads(d->data, 0, NULL);

	*j = (struct journal){ .task = d->task_id,
		.deed = d->id,
		.name = xstrdup(d->task),
		.target = text_of(o, "target"),
		.from = text_of(o, "new"),
		.to = text_of(o, "old"),
		.kind = text_of(o, "kind"),
		.state = text_of(o, "state") };
	json_decref(o);
	if (strncmp(j->target, "refs/heads/", 11) || !*j->from || !*j->to)
		return err_set(e, ERR_FAILED, "the record of the merge cannot be read");
	return 0;
}

static int undo_locked(struct context *c, struct journal *j, struct err *e)
{
	auto_strvec settled = STRVEC_INIT, in_the_way = STRVEC_INIT;
	const char *target = j->target + strlen("refs/heads/");
	auto_project p = { 0 };
	auto_repo r = { 0 };
	char now[OID_SIZE], count[COUNT_TEXT_MAX];
	auto_str to = shell_word(target);

	if (move_settle(c, j->project, &settled, e) < 0 ||
		store_project_by_id(c->store, j->project, &p, e) < 0 ||
		repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(j->from) / 2, &r, e) < 0 ||
		ref_read(&r, j->target, now, e) < 0)
		return -1;
	if (strcmp(now, j->from))
		return err_set(e, ERR_CONFLICT, "%s has moved since", target),
		       err_hint(e, "git log --oneline %.12s..%s", j->from, to);
	if (move_branch(c, &r, j, false, &in_the_way, e) < 0) {
		if (in_the_way.n) {
			auto_str top = shell_quoted(j->top);

			err_set(e, ERR_CONFLICT, "%s file%s in the way in '%s'",
				count_text(in_the_way.n, count), in_the_way.n == 1 ? " is" : "s are", j->top);
			err_hint(e, "git -C %s status --ignored", top);
			err_paths(e, &in_the_way);
		}
		return -1;
	}
	return 0;
}

int merge_undo(struct context *c, const struct deed *d, struct err *e)
{
	auto_journal j = { 0 };
	auto_task t = { 0 };
	auto_lock lock = -1;

	if (context_store(c, e) < 0 || read_deed(d, &j, e) < 0 ||
		store_task_any(c->store, d->task_id, &t, e) < 0)
		return -1;
	j.project = t.project_id;
	if (journal_lock(&c->home, j.project, &lock, e) < 0 || undo_locked(c, &j, e) < 0)
		return err_wrap(e, "cannot take back the merge of task '%s'", d->task);
	return 0;
}

/* Finds the first free name. */
static int name_branch(const struct repo *r, const char *task, char **ret, struct err *e)
{
	for (int i = 0; i < KEPT_MAX; i++) {
		auto_str name = i ? xasprintf("refs/heads/garth/%s.kept-%d", task, i)
				  : xasprintf("refs/heads/garth/%s", task);
		char now[OID_SIZE];

		if (ref_read(r, name, now, e) < 0)
			return -1;
		if (!*now)
			return *ret = steal_ptr(name), 0;
	}
	return err_set(e, ERR_EXISTS, "there are too many branches 'garth/%s.kept-…'", task);
}

int merge_undo_kept(struct context *c, const struct deed *d, char **ret_branch, struct err *e)
{
	auto_ref_txn keep = REF_TXN_INIT, forget = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	auto_journal j = { 0 };
	auto_project p = { 0 };
	auto_str name = NULL;
	auto_task t = { 0 };
	auto_repo r = { 0 };

	if (context_store(c, e) < 0 || read_deed(d, &j, e) < 0 ||
		store_task_any(c->store, d->task_id, &t, e) < 0 ||
		store_project_by_id(c->store, t.project_id, &p, e) < 0 ||
		repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(j.from) / 2, &r, e) < 0 ||
		name_branch(&r, t.name, &name, e) < 0)
		return -1;
	/* pin the commits before the target drops them */
	ref_create(&keep, name, j.from);
	if (ref_commit(&r, &keep, e) < 0)
		return err_wrap(e, "cannot keep the commits of task '%s'", t.name);
	if (merge_undo(c, d, e) < 0) {
		ref_remove(&forget, name, j.from);
		ref_commit(&r, &forget, &ignored);
		return -1;
	}
	*ret_branch = xstrdup(name + strlen("refs/heads/"));
	return 0;
}
