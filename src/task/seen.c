#include "task/seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static char *now(const struct task *t)
{
	return xasprintf("%s %lld", t->published ? t->published : "", (long long)t->ended);
}

/* Compares with now() without making the text: it is asked of every task in a list. */
bool seen_is(const struct task *t)
{
	size_t n = t->published ? strlen(t->published) : 0;

	if (!n && !t->started)
		return true;
	return t->seen && !strncmp(t->seen, n ? t->published : "", n) && t->seen[n] == ' ' &&
	       strtoll(t->seen + n, NULL, 10) == t->ended;
}

void seen_mark(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_str has = now(t);

	if (seen_is(t) || t->removed || c->home.copy_of || context_store(c, &ignored) < 0)
		return;
	store_task_seen(c->store, t->id, has, &ignored);
}
