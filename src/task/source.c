#include "task/source.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "git/remote.h"
#include "task/refs.h"

void source_release(struct source *s)
{
	auto_ref_txn drop = REF_TXN_INIT;
	struct err ignored = ERR_INIT;

	if (!s->ref)
		return;
	ref_remove(&drop, s->ref, NULL);
	ref_commit(s->repo, &drop, &ignored);
	free(steal_ptr(s->ref));
}

int source_take(const struct home *h, struct repo *r, const char *target, struct source *ret, struct err *e)
{
	static const char heads[] = "refs/heads/";
	auto_str remote = NULL, there = NULL;
	auto_ref_txn move = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	char oid[OID_SIZE];

	if (strncmp(target, heads, strlen(heads)))
		return 0;
	if (remote_choose(r, NULL, &remote, e) < 0)
		return -1;
	if (!remote)
		return 0;
	ret->repo = r;
	ret->ref = refs_fetched(h);
	if (remote_fetch(r, remote, target + strlen(heads), ret->ref, oid, e) < 0)
		return err_hint(e, "garth run --backend clone --base HEAD -- CMD");
	if (!*oid)
		return 0;
	free(r->commit);
	r->commit = xstrdup(oid);
	/* as the user's own fetch would; a failure does not matter to the task */
	there = xasprintf("refs/remotes/%s/%s", remote, target + strlen(heads));
	ref_set(&move, there, oid);
	ref_commit(r, &move, &ignored);
	return 0;
}
