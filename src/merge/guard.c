#include "merge/guard.h"

#include <string.h>
#include <sys/stat.h>

#include "base/strvec.h"
#include "config/protect.h"
#include "git/checkout.h"

#define DIFF_MAX (1u << 30)

int guard(struct context *c, const struct repo *r, const struct task *t, const char *from, const char *to,
	struct err *e)
{
	auto_strvec allowed = STRVEC_INIT, found = STRVEC_INIT;
	auto_buf raw = BUF_INIT(DIFF_MAX);
	struct diff_entry d;
	size_t at = 0;
	int got;

	if (context_store(c, e) < 0 || store_allowed(c->store, t->id, &allowed, e) < 0 ||
		checkout_diff(r, from, to, DIFF_MAX, &raw, e) < 0)
		return -1;
	while ((got = diff_next(&raw, &at, r->hash_len, &d)) > 0)
		if (protect_path(&c->config.policy, &allowed, d.path, S_ISLNK(d.new_mode)))
			strvec_push(&found, d.path);
	if (got < 0)
		return err_set(e, ERR_FAILED, "cannot understand the difference of two commits");
	if (!found.n)
		return 0;
	err_set(e, ERR_REFUSED, "this would change what is protected:");
	err_paths(e, &found);
	return strchr(found.v[0], '\'') ? -1 : err_hint(e, "garth allow %s '%s'", t->name, found.v[0]);
}
