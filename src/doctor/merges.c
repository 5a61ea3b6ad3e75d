/* Finds merges that a crash interrupted; merge_settle finishes or reverts them. */
#include <stdlib.h>

#include "base/alloc.h"
#include "doctor/parts.h"
#include "merge/journal.h"
#include "merge/merge.h"
#include "sys/lock.h"

static int mend(struct context *c, struct finding *f, struct err *e)
{
	auto_strvec done = STRVEC_INIT;
	auto_journal j = { 0 };
	auto_buf said = BUF_SMALL;

	if (merge_settle(c, &done, e) < 0)
		return -1;
	for (size_t i = 0; i < done.n; i++)
		buf_printf(&said, "%s%s", i ? "; " : "", done.v[i]);
	if (!journal_read(&c->home, f->project, &j, e))
		return err_set(e, ERR_FAILED, "%s", said.len ? buf_str(&said) : "it is still there");
	if (said.len)
		finding_said(f, "%s", buf_str(&said));
	return 0;
}

static bool is_at_work(struct context *c, int64_t project)
{
	auto_str lock = xasprintf("merges/%lld.lock", (long long)project);

	return lock_is_held(c->home.fd, lock);
}

int merges_look(struct survey *s, struct findings *out, struct err *e)
{
	int64_t *projects;
	size_t n;

	if (journal_list(&s->c->home, &projects, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		auto_journal j = { 0 };
		struct finding *f;
		struct err failed = ERR_INIT;

		/* nobody holds the lock before and after the read: a crash left this journal */
		if (is_at_work(s->c, projects[i]) ||
			(journal_read(&s->c->home, projects[i], &j, &failed) < 0 &&
				failed.kind == ERR_NOTFOUND) ||
			is_at_work(s->c, projects[i]))
			continue;
		f = j.name ? finding_add(out, "merge-left", j.name, "its %s into %s was cut short",
				     j.deed ? "undone merge" : "merge",
				     strncmp(j.target, "refs/heads/", 11) ? j.target : j.target + 11)
			   : finding_add(out, "merge-left", "merge", "%s", failed.msg);
		f->project = projects[i];
		finding_mend(f, mend, "finish it where the branch has moved, else take it back");
	}
	free(projects);
	return 0;
}
