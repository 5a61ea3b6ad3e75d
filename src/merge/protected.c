#include "merge/protected.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/glob.h"
#include "base/shell_word.h"
#include "base/strvec.h"
#include "config/protect.h"
#include "git/blob.h"
#include "git/checkout.h"
#include "task/question.h"

#define DIFF_MAX (1u << 30)

static int look_at_question(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	(void)i;
	(void)e;
	*(bool *)arg = question_is_one(data, len);
	return 0;
}

static int guard_question(const struct repo *r, const struct task *t, const struct strvec *allowed,
	const char *oid, struct err *e)
{
	struct git g = repo_git(r);
	auto_strvec names = STRVEC_INIT;
	bool is_one = false;

	for (size_t i = 0; i < allowed->n; i++)
		if (glob_matches(allowed->v[i], QUESTION_FILE))
			return 0;
	strvec_pushf(&names, "%.*s", (int)r->hash_len * 2, oid);
	if (blob_read(&g, &names, look_at_question, &is_one, e) < 0)
		return -1;
	if (!is_one)
		return 0;
	err_set(e, ERR_REFUSED,
		QUESTION_FILE " is a question of the agent's, and no work (garth allow %s " QUESTION_FILE
			      ", if it is); to remove it:",
		t->name);
	return err_hint(e,
		"garth exec %s -- sh -c 'git rm -q " QUESTION_FILE
		" && git commit -qm \"Remove " QUESTION_FILE "\"'",
		t->name);
}

static int refuse(const struct task *t, const struct strvec *paths, bool protected, struct err *e)
{
	auto_str first = shell_quoted(paths->v[0]);

	err_set(e, ERR_REFUSED, "it changes %zu %s%s%s", paths->n, protected ? "protected path" : "path",
		paths->n == 1 ? "" : "s", protected ? "" : " outside of its scope");
	err_paths(e, paths);
	return err_hint(e, "garth allow %s %s", t->name, first);
}

int protected_check(struct context *c, const struct repo *r, const struct task *t, const char *from,
	const char *to, struct links *moved, struct err *e)
{
	auto_strvec allowed = STRVEC_INIT, found = STRVEC_INIT, outside = STRVEC_INIT;
	auto_buf raw = BUF_INIT(DIFF_MAX);
	struct diff_entry d;
	size_t at = 0;
	int got;

	if (context_store(c, e) < 0 || store_allowed(c->store, t->id, &allowed, e) < 0 ||
		checkout_diff(r, from, to, DIFF_MAX, &raw, e) < 0)
		return -1;
	while ((got = diff_next(&raw, &at, r->hash_len, &d)) > 0) {
		if (!d.old_mode && S_ISREG(d.new_mode) && !strcmp(d.path, QUESTION_FILE) &&
			guard_question(r, t, &allowed, d.new_oid, e) < 0)
			return -1;
		if (protect_path(&c->config.policy, &allowed, d.path, S_ISLNK(d.new_mode)))
			strvec_push(&found, d.path);
		else if (!protect_in_scope(&c->config.policy, &allowed, "", d.path))
			strvec_push(&outside, d.path);
		if (moved)
			links_note(r, &d, moved);
	}
	if (got < 0)
		return err_set(e, ERR_FAILED, "cannot understand the difference of two commits");
	if (!found.n && !outside.n)
		return 0;
	return refuse(t, found.n ? &found : &outside, found.n > 0, e);
}
