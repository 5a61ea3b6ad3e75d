#include "inside/renamed.h"

#include <string.h>

#include "base/alloc.h"
#include "git/ref.h"

static int rename_branch(struct inside *in, const char *from, const char *to, int *ret_code, struct err *e)
{
	return inside_do(in, NULL, ret_code, e, "branch", "-m", from, to, NULL);
}

/* There is no such branch any more; HEAD may name it all the same. */
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

int inside_renamed(struct inside *in, struct err *e)
{
	if (!*in->task.inside_was)
		return 0;
	if (follow(in, e) < 0 || store_task_renamed(in->context.store, in->task.id, true, e) < 0)
		return -1;
	in->task.inside_was[0] = '\0';
	return 0;
}
