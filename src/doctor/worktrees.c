/* Finds worktrees of Garth that a user's repository knows and no task has, and worktree locks that somebody
 * added or removed. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/found.h"
#include "doctor/parts.h"
#include "git/ref.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "workspace/base.h"

/* The name of a path directly below worktrees/; NULL for any other path. */
static const char *name_in_home(const struct context *c, const char *path)
{
	auto_str home = home_path(&c->home, "worktrees");
	const char *name = path_base(path);

	return strlen(path) == strlen(home) + 1 + strlen(name) && path_within(path, home) ? name : NULL;
}

static const struct worktree *at_path(const struct worktree_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].path, path))
			return &l->v[i];
	return NULL;
}

/* A detached HEAD may be the only name of its commit, and the index may name files that were added and never
 * committed. Both are kept with what was found. */
static int keep_record(const struct repo *r, const struct worktree *w, const struct found *f, struct err *e)
{
	auto_str pin = xasprintf("refs/garth/trash/%s/head", f->name), index = path_join(w->admin, "index");
	auto_ref_txn txn = REF_TXN_INIT;
	auto_buf text = BUF_INIT(1u << 30);

	if (strncmp(w->head, "refs/", 5) && ref_can_name(r, w->head))
		ref_set(&txn, pin, w->head);
	if (ref_commit(r, &txn, e) < 0)
		return -1;
	if (read_file(AT_FDCWD, index, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	return write_file(f->dir, "host-index", buf_str(&text), text.len, 0600, e);
}

/* Somebody may have made it again meanwhile. */
static int forget(const struct repo *r, const char *path, struct err *e)
{
	if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
		return err_set(e, ERR_BUSY, "'%s' is there again", path);
	return worktree_forget(r, path, e);
}

static int put_away(
	struct context *c, const struct repo *r, const struct worktree *w, struct finding *f, struct err *e)
{
	auto_fd dir = openat(c->home.fd, "worktrees", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_found found = FOUND_INIT;
	bool there = !faccessat(AT_FDCWD, w->path, F_OK, AT_SYMLINK_NOFOLLOW);

	if (dir < 0)
		return err_sys(e, "cannot open '%s/worktrees'", c->home.path);
	if (found_open(c, w->path, r->git_dir, &found, e) < 0)
		return -1;
	if (keep_record(r, w, &found, e) < 0 ||
		(there && found_take(&found, dir, path_base(w->path), e) < 0)) {
		found_drop(c, &found);
		return -1;
	}
	fault("doctor-moved");
	if (forget(r, w->path, e) < 0)
		return -1;
	finding_said(f, "what was there is in %s/trash/%s", c->home.path, found.name);
	return 0;
}

/* A task is in the store before its creator waits for the project's lock. */
static int drop(struct context *c, struct finding *f, struct err *e)
{
	auto_worktree_list now = { 0 };
	auto_task_list tasks = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	const struct worktree *w;

	if (survey_repo(c, f->project, &r, e) < 0 || base_try_lock(&c->home, f->project, &lock, e) < 0 ||
		worktree_list(&r, &now, e) < 0 || store_task_list(c->store, false, &tasks, e) < 0)
		return -1;
	w = at_path(&now, f->path);
	if (!w)
		return 0;
	if (survey_at(&tasks, f->path))
		return err_set(e, ERR_BUSY, "a task has it now");
	return put_away(c, &r, w, f, e);
}

static void look_at_orphan(
	const struct survey_project *p, const struct worktree *w, bool there, struct findings *out)
{
	bool ours = !w->reason || !strcmp(w->reason, WORKTREE_REASON);
	auto_str quoted = finding_quoted(w->path), git = finding_quoted(p->repo.git_dir);
	struct finding *f = finding_add(out, "worktree-orphaned", w->path,
		"'%s' has a worktree there that no task has%s%s%s%s", p->project.name,
		there ? "" : ", and its files are gone", ours ? "" : "; somebody locked it",
		ours || !*w->reason ? "" : ": ", ours ? "" : w->reason);

	f->project = p->project.id;
	f->path = xstrdup(w->path);
	if (ours)
		finding_mend(f, drop, "%sremove git's record of it",
			there ? "move its files to the trash, and " : "");
	else
		finding_hint(f, "git --git-dir=%s worktree unlock %s", git, quoted);
}

/* Checks again: what was being made or removed before is finished by now. */
static int look_again(struct survey *s, const struct survey_project *p, const char *path,
	struct findings *out, struct err *e)
{
	auto_worktree_list now = { 0 };
	auto_task_list tasks = { 0 };
	auto_lock lock = -1;
	const struct worktree *w;

	if (base_try_lock(&s->c->home, p->project.id, &lock, e) < 0)
		return e->kind == ERR_BUSY ? 0 : -1;
	if (worktree_list(&p->repo, &now, e) < 0 || store_task_list(s->c->store, false, &tasks, e) < 0)
		return -1;
	w = at_path(&now, path);
	if (w && !survey_at(&tasks, path))
		look_at_orphan(p, w, !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW), out);
	return 0;
}

static void note_lock(const struct task *t, const struct worktree *w, struct findings *out)
{
	struct finding *f;

	if (!w->reason || !strcmp(w->reason, WORKTREE_REASON))
		return;
	f = finding_add(out, "worktree-locked", t->name, "somebody else locked its worktree: %s",
		*w->reason ? w->reason : "without a reason");
	f->note = true;
}

int worktrees_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->v[i].worktrees.n; j++) {
			const struct worktree *w = &s->v[i].worktrees.v[j];
			const struct task *t = survey_at(&s->tasks, w->path);

			if (!name_in_home(s->c, w->path))
				continue;
			if (t)
				note_lock(t, w, out);
			else if (look_again(s, &s->v[i], w->path, out, e) < 0)
				return -1;
		}
	return 0;
}
