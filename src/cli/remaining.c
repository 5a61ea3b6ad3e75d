#include "cli/remaining.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "base/size.h"
#include "base/strvec.h"
#include "cli/say.h"
#include "git/ref.h"
#include "task/submodule_refs.h"
#include "task/task.h"
#include "workspace/review.h"

bool remaining_warn(struct context *c, struct task *t, const char *done)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_strvec files = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	size_t set_aside;
	char tip[OID_SIZE], count[COUNT_TEXT_MAX];

	if (task_open(c, t, &at, &ignored) < 0 || ref_read(&at.repo, t->branch, tip, &ignored) < 0 ||
		review_uncommitted(&at.ws, tip, &files, &set_aside, &ignored) < 0 || !files.n)
		return false;
	for (size_t i = 0; i < files.n; i++)
		memmove(files.v[i], files.v[i] + 2, strlen(files.v[i] + 2) + 1);
	say_warning_list(&files,
		"task '%s' has work that is not %s: %s file%s not committed, or not published", t->name, done,
		count_text(files.n, count), files.n == 1 ? " is" : "s are");
	say_hint("garth diff %s", t->name);
	return true;
}

/* How the user names the repository of a submodule to git: by its checkout, if there is one. */
static char *git_in(struct context *c, const struct task *t, const struct submodule_ref *r)
{
	auto_str quoted = shell_quoted(r->git_dir), top = NULL, dot_git = NULL;
	struct err ignored = ERR_INIT;
	auto_project p = { 0 };

	if (!context_store(c, &ignored) && !store_project_by_id(c->store, t->project_id, &p, &ignored)) {
		top = path_join(p.path, r->path);
		dot_git = path_join(top, ".git");
	}
	if (!dot_git || access(dot_git, F_OK) < 0)
		return xasprintf("git --git-dir %s --work-tree /", quoted);
	free(quoted);
	quoted = shell_quoted(top);
	return xasprintf("git -C %s", quoted);
}

void remaining_tell_submodules(struct context *c, const struct task *t, const struct submodule_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++) {
		const struct submodule_ref *r = &refs->v[i];
		auto_str git = git_in(c, t, r);

		if (r->stays == STAYS_CHECKED_OUT)
			say_warning("branch %s of submodule '%s' stays: it is checked out",
				ref_short(t->branch), r->path);
		if (r->stays == STAYS_NAMED) {
			say_warning(
				"branch %s of submodule '%s' stays: no other branch there has its commits, push it or keep them on one",
				ref_short(t->branch), r->path);
			say_hint("%s branch NAME %s", git, ref_short(t->branch));
		}
	}
}

void remaining_tell_branch(struct context *c, const struct task *t)
{
	const char *branch = t->branch + strlen("refs/heads/");
	const char *other = strncmp(t->target, "refs/heads/", 11) ? "--detach" : t->target + 11;
	auto_submodule_refs refs = { 0 };
	auto_str top = task_branch_kept_by(c, t), to = shell_word(other), place = NULL;

	submodule_refs_load_removed(c, t, &refs);
	remaining_tell_submodules(c, t, &refs);
	if (!top)
		return;
	say_warning("branch %s stays: it is checked out in '%s'", branch, top);
	place = shell_quoted(top);
	say_hint("git -C %s switch %s && git -C %s branch -D %s", place, to, place, branch);
}
