#include "task/tip.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/shell_word.h"
#include "git/ref.h"
#include "git/run.h"

void tip_fork(const struct repo *r, const struct task *t, char out[OID_SIZE])
{
	struct git g = repo_git(r);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char target[OID_SIZE] = "";

	snprintf(out, OID_SIZE, "%s", t->base);
	if (!*t->published || !*t->target || ref_read(r, t->target, target, &ignored) < 0 || !*target)
		return;
	if (git_do(&g, &text, &ignored, "merge-base", "--end-of-options", target, t->branch, NULL) < 0)
		return;
	text.data[strcspn(buf_str(&text), "\n")] = '\0';
	if (strlen(text.data) == strlen(t->base))
		snprintf(out, OID_SIZE, "%s", text.data);
}

bool tip_is(const char *oid, const char *seen)
{
	size_t n = strlen(seen);

	return n >= 7 && !strncmp(oid, seen, n);
}

int tip_check(const struct repo *r, const struct task *t, const char *seen, struct err *e)
{
	auto_str top = shell_quoted(r->top ? r->top : r->git_dir);
	char now[OID_SIZE];

	if (ref_read(r, t->branch, now, e) < 0)
		return -1;
	if (tip_is(now, seen))
		return 0;
	if (!*now)
		return err_set(e, ERR_NOTFOUND, "the branch of task '%s' is gone", t->name);
	err_set(e, ERR_CONFLICT, "the branch of task '%s' has moved from %.12s to %.12s since it was read",
		t->name, seen, now);
	return err_hint(e, "git -C %s diff %.12s %.12s", top, seen, now);
}

int tip_refuse_unpublished(const struct task *t, struct err *e)
{
	if (!*t->leftover)
		return err_set(e, ERR_REFUSED, "task '%s' has published nothing", t->name),
		       err_hint(e, "garth diff %s", t->name);
	err_set(e, ERR_REFUSED, "task '%s' has published nothing: its changes are not committed", t->name);
	return err_hint(e, "garth shell %s    # then: git add --all && git commit", t->name);
}
