#include "git/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int reach_count(const struct repo *r, const struct strvec *tips, const struct strvec *except, size_t *ret,
	struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_SMALL;
	struct git g = repo_git(r);

	strvec_pushl(&args, "rev-list", "--count", NULL);
	for (size_t i = 0; i < tips->n; i++)
		strvec_push(&args, tips->v[i]);
	for (size_t i = 0; i < except->n; i++)
		strvec_pushf(&args, "^%s", except->v[i]);
	strvec_push(&args, "--");
	if (git_run(&g, &args, NULL, &out, e) < 0)
		return -1;
	*ret = strtoul(buf_str(&out), NULL, 10);
	return 0;
}

bool reach_has(const struct repo *r, const char *from, const char *commit)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;
	int code;

	if (!strcmp(from, commit))
		return true;
	strvec_pushl(&args, "merge-base", "--is-ancestor", commit, from, NULL);
	return !git_try(&g, &args, NULL, NULL, NULL, &code, &ignored) && !code;
}
