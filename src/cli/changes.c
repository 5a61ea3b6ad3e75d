#include "cli/changes.h"

#include "base/alloc.h"
#include "base/strvec.h"
#include "cli/say.h"
#include "git/pending.h"
#include "workspace/workspace.h"

#define NAMES_SHOWN 3

void changes_tell(const struct task *t, const char *dir)
{
	auto_buf names = BUF_SMALL, clean = BUF_SMALL;
	auto_strvec paths = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (!backend_of(t)->has_git || pending_list(dir, &paths, &ignored) < 0 || !paths.n)
		return;
	for (size_t i = 0; i < paths.n && i < NAMES_SHOWN; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", paths.v[i]);
	if (paths.n > NAMES_SHOWN)
		buf_printf(&names, " and %zu more", paths.n - NAMES_SHOWN);
	say_state(
		"%zu uncommitted change%s of the checkout %s not in the task: %s (--with-changes takes %s along)",
		paths.n, paths.n == 1 ? "" : "s", paths.n == 1 ? "is" : "are",
		say_one_line(&clean, buf_str(&names)), paths.n == 1 ? "it" : "them");
}
