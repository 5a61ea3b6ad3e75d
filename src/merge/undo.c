#include <jansson.h>

#include "base/alloc.h"
#include "base/shell_word.h"
#include "base/size.h"
#include "git/ref.h"
#include "merge/git_commands.h"
#include "merge/merge.h"
#include "merge/move.h"
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
	journal_links_unpack(json_object_get(o, "submodules"), &j->was);
	json_decref(o);
	if (strncmp(j->target, "refs/heads/", 11) || !*j->from || !*j->to)
		return err_set(e, ERR_FAILED, "the record of the merge cannot be read");
	return 0;
}

static int undo_locked(struct context *c, struct journal *j, struct err *e)
{
	auto_strvec settled = STRVEC_INIT;
	auto_move_result moved = { 0 };
	auto_links links = { 0 };
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
	if (links_find(&r, j->from, j->to, &links, e) < 0)
		return -1;
	if (move_branch(c, &r, j, &links, false, &moved, e) < 0) {
		if (moved.in_the_way.n) {
			auto_str top = shell_quoted(moved.where);

			err_set(e, ERR_CONFLICT, "%s file%s in the way in '%s'",
				count_text(moved.in_the_way.n, count),
				moved.in_the_way.n == 1 ? " is" : "s are", moved.where);
			err_hint(e, "git -C %s status --ignored", top);
			err_paths(e, &moved.in_the_way);
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

/* Branches that were made to keep commits: a repository and a name each. */
struct kept {
	struct repo repo;
	char *name;
	const char *oid;
};

static int keep_one(struct kept *k, const char *task, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;

	if (name_branch(&k->repo, task, &k->name, e) < 0)
		return -1;
	ref_create(&txn, k->name, k->oid);
	if (!ref_commit(&k->repo, &txn, e))
		return 0;
	free(k->name);
	k->name = NULL;
	return err_wrap(e, "cannot keep the commits of task '%s'", task);
}

/* Takes the branches away if `drop` is set. */
static void release_kept(struct kept *k, size_t n, bool drop)
{
	for (size_t i = 0; i < n; i++) {
		auto_ref_txn txn = REF_TXN_INIT;
		struct err ignored = ERR_INIT;

		if (drop && k[i].name) {
			ref_remove(&txn, k[i].name, k[i].oid);
			ref_commit(&k[i].repo, &txn, &ignored);
		}
		free(k[i].name);
		repo_release(&k[i].repo);
	}
	free(k);
}

/* The submodules whose checkouts move back: afterwards nothing may have their new commits. */
static int keep_submodules(const struct journal *j, struct kept *k, size_t *n, struct err *e)
{
	for (size_t i = 0; i < j->was.n; i++) {
		const struct journal_link *l = &j->was.v[i];
		struct err gone = ERR_INIT;

		if (!*l->git_dir || repo_open_git_dir(l->git_dir, l->top, (unsigned)strlen(l->to) / 2,
					    &k[*n].repo, &gone) < 0)
			continue;
		k[*n].repo.submodule = true;
		k[*n].oid = l->to;
		if (keep_one(&k[(*n)++], j->name, e) < 0)
			return -1;
	}
	return 0;
}

int merge_undo_kept(struct context *c, const struct deed *d, char **ret_branch, struct err *e)
{
	auto_journal j = { 0 };
	auto_project p = { 0 };
	auto_task t = { 0 };
	struct kept *k;
	size_t n = 1;
	int rc;

	if (context_store(c, e) < 0 || read_deed(d, &j, e) < 0 ||
		store_task_any(c->store, d->task_id, &t, e) < 0 ||
		store_project_by_id(c->store, t.project_id, &p, e) < 0)
		return -1;
	free(j.name);
	j.name = xstrdup(t.name);
	k = xcalloc(j.was.n + 1, sizeof(*k));
	k[0].oid = j.from;
	rc = repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(j.from) / 2, &k[0].repo, e);
	/* pin the commits before the branches drop them */
	if (rc < 0 || keep_one(&k[0], t.name, e) < 0 || keep_submodules(&j, k, &n, e) < 0 ||
		merge_undo(c, d, e) < 0)
		return release_kept(k, n, true), -1;
	*ret_branch = xstrdup(k[0].name + strlen("refs/heads/"));
	release_kept(k, n, false);
	return 0;
}
