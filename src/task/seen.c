#include "task/seen.h"

#include <string.h>

#include "base/alloc.h"

static char *now(const struct task *t)
{
	return xasprintf("%s %lld", t->published ? t->published : "", (long long)t->ended);
}

bool seen_is(const struct task *t)
{
	auto_str has = now(t);

	if (!(t->published && *t->published) && !t->started)
		return true;
	return t->seen && !strcmp(t->seen, has);
}

void seen_mark(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_str has = now(t);

	if (seen_is(t) || t->removed || c->home.copy_of || context_store(c, &ignored) < 0)
		return;
	store_task_seen(c->store, t->id, has, &ignored);
}
