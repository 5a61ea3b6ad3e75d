#include "git/ref.h"

static int list(const struct repo *r, const struct strvec *patterns, struct buf *out, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);

	strvec_pushl(&args, "for-each-ref", "--format=%(objectname) %(refname)", NULL);
	for (size_t i = 0; i < patterns->n; i++)
		strvec_push(&args, patterns->v[i]);
	return git_run(&g, &args, NULL, out, e);
}

int ref_shown(const struct repo *r, const char *target, struct buf *out, struct err *e)
{
	auto_strvec patterns = STRVEC_INIT;

	if (*target)
		strvec_push(&patterns, target);
	strvec_push(&patterns, "refs/tags/");
	return list(r, &patterns, out, e);
}

int ref_list(const struct repo *r, const char *prefix, struct buf *out, struct err *e)
{
	auto_strvec patterns = STRVEC_INIT;

	strvec_push(&patterns, prefix);
	return list(r, &patterns, out, e);
}

bool ref_can_name(const struct repo *r, const char *oid)
{
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	return !git_do(&g, NULL, &ignored, "cat-file", "-e", oid, NULL);
}

void ref_release(struct ref_txn *t)
{
	buf_release(&t->text);
}

void ref_create(struct ref_txn *t, const char *name, const char *oid)
{
	buf_printf(&t->text, "create %s %s\n", name, oid);
}

void ref_set(struct ref_txn *t, const char *name, const char *oid)
{
	buf_printf(&t->text, "update %s %s\n", name, oid);
}

void ref_remove(struct ref_txn *t, const char *name, const char *old)
{
	buf_printf(&t->text, "delete %s%s%s\n", name, old ? " " : "", old ? old : "");
}

int ref_commit(const struct repo *r, struct ref_txn *t, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);

	if (!t->text.len)
		return 0;
	if (t->text.overflow)
		return err_set(e, ERR_FAILED, "too many refs for one step");
	strvec_pushl(&args, "update-ref", "--stdin", NULL);
	return git_run(&g, &args, &t->text, NULL, e);
}
