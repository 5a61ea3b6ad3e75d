#include "inside/renamed.h"

#include <string.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "inside/submodule.h"

static int rename_branch(struct inside *in, const char *from, const char *to, int *ret_code, struct err *e)
{
	return inside_do(in, NULL, ret_code, e, "branch", "-m", from, to, NULL);
}

/* There is no such branch any more; HEAD may still name it. */
static int rename_head(struct inside *in, struct err *e)
{
	auto_buf head = BUF_INIT(4096);
	int code;

	if (inside_ask(in, &head, &code, e, "symbolic-ref", "-q", "HEAD", NULL) < 0)
		return -1;
	buf_str(&head);
	if (head.len)
		head.data[strcspn(head.data, "\n")] = '\0';
	if (code || strcmp(buf_str(&head), in->task.inside_was) != 0)
		return 0;
	return inside_do(in, NULL, NULL, e, "symbolic-ref", "HEAD", in->task.branch, NULL);
}

static int follow(struct inside *in, struct err *e)
{
	const char *from = ref_short(in->task.inside_was), *to = ref_short(in->task.branch);
	auto_str own = xasprintf("%s.own", to);
	int code;

	if (inside_ask(in, NULL, &code, e, "show-ref", "--verify", "--quiet", in->task.inside_was, NULL) < 0)
		return -1;
	if (code)
		return rename_head(in, e);
	if (rename_branch(in, from, to, &code, e) < 0)
		return -1;
	if (!code)
		return 0;
	if (rename_branch(in, to, own, &code, e) < 0)
		return -1;
	/* with git's own message if it fails again */
	return rename_branch(in, from, to, NULL, e);
}

/* Each has a branch of the same name. */
static int follow_submodules(struct inside *in, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(in->at.ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_inside_submodule sub = INSIDE_SUBMODULE_INIT;

		if (submodule_is_here(&s.v[i]) &&
			(inside_submodule_open(in, &s, i, &sub, e) < 0 || follow(&sub.in, e) < 0))
			return err_wrap(e, "submodule '%s'", s.v[i].path);
	}
	return 0;
}

int inside_renamed(struct inside *in, struct err *e)
{
	if (!*in->task.inside_was)
		return 0;
	if (follow_submodules(in, e) < 0 || follow(in, e) < 0 ||
		store_task_renamed(in->context.store, in->task.id, true, e) < 0)
		return -1;
	in->task.inside_was[0] = '\0';
	return 0;
}
