#include "git/reach.h"

#include <stdlib.h>

#include "base/buf.h"

int reach_count(
	const struct repo *r, const struct strvec *tips, const char *except, size_t *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_SMALL;
	struct git g = repo_git(r);

	strvec_pushl(&args, "rev-list", "--count", NULL);
	for (size_t i = 0; i < tips->n; i++)
		strvec_push(&args, tips->v[i]);
	strvec_pushf(&args, "^%s", except);
	strvec_push(&args, "--");
	if (git_run(&g, &args, NULL, &out, e) < 0)
		return -1;
	*ret = strtoul(buf_str(&out), NULL, 10);
	return 0;
}
