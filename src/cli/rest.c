#include "cli/rest.h"

#include "base/alloc.h"
#include "base/shell_word.h"
#include "base/size.h"
#include "base/strvec.h"
#include "cli/say.h"
#include "git/ref.h"
#include "task/task.h"
#include "workspace/review.h"

bool rest_warn(struct context *c, struct task *t, const char *done)
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

void rest_tell_branch(struct context *c, const struct task *t)
{
	const char *branch = t->branch + strlen("refs/heads/");
	const char *other = strncmp(t->target, "refs/heads/", 11) ? "--detach" : t->target + 11;
	auto_str top = task_branch_kept_by(c, t), to = shell_word(other), place = NULL;

	if (!top)
		return;
	say_warning("branch %s stays: it is checked out in '%s'", branch, top);
	place = shell_quoted(top);
	say_hint("git -C %s switch %s && git -C %s branch -D %s", place, to, place, branch);
}
