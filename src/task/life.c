#include "task/life.h"

#include "base/alloc.h"

static const struct {
	const char *from, *to;
} moves[] = {
	{ STATE_CREATING, STATE_CREATED },
	{ STATE_CREATED, STATE_RUNNING },
	{ STATE_DONE, STATE_RUNNING },
	{ STATE_FAILED, STATE_RUNNING },
	{ STATE_CANCELLED, STATE_RUNNING },
	{ STATE_INTERRUPTED, STATE_RUNNING },
	{ STATE_RUNNING, STATE_PAUSED },
	{ STATE_PAUSED, STATE_RUNNING },
	{ STATE_PAUSED, STATE_DONE },
	{ STATE_PAUSED, STATE_FAILED },
	{ STATE_PAUSED, STATE_CANCELLED },
	{ STATE_PAUSED, STATE_INTERRUPTED },
	{ STATE_RUNNING, STATE_DONE },
	{ STATE_RUNNING, STATE_FAILED },
	{ STATE_RUNNING, STATE_CANCELLED },
	{ STATE_RUNNING, STATE_INTERRUPTED },
	{ STATE_RUNNING, STATE_BLOCKED },
	{ STATE_PAUSED, STATE_BLOCKED },
	{ STATE_BLOCKED, STATE_RUNNING },
	{ STATE_FAILED, STATE_DONE },    /* what it left was committed or removed, or its push succeeded */
	{ STATE_FAILED, STATE_BLOCKED }, /* it could not be resumed after an answer */
	{ STATE_BLOCKED, STATE_MERGED },
	{ STATE_BLOCKED, STATE_DISCARDING },
	{ STATE_MERGED, STATE_RUNNING },
	{ STATE_CREATED, STATE_MERGED },
	{ STATE_DONE, STATE_MERGED },
	{ STATE_FAILED, STATE_MERGED },
	{ STATE_CANCELLED, STATE_MERGED },
	{ STATE_INTERRUPTED, STATE_MERGED },
	{ STATE_CREATED, STATE_DISCARDING },
	{ STATE_DONE, STATE_DISCARDING },
	{ STATE_FAILED, STATE_DISCARDING },
	{ STATE_CANCELLED, STATE_DISCARDING },
	{ STATE_INTERRUPTED, STATE_DISCARDING },
	{ STATE_MERGED, STATE_DISCARDING },
	{ STATE_DISCARDING, STATE_DISCARDED },
};

bool life_is_running(const struct task *t)
{
	return !strcmp(t->state, STATE_RUNNING) || !strcmp(t->state, STATE_PAUSED);
}

bool life_allows(const char *from, const char *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		if (!strcmp(moves[i].from, from) && !strcmp(moves[i].to, to))
			return true;
	return false;
}

int life_move(struct store *s, struct task *t, const char *to, struct err *e)
{
	if (!life_allows(t->state, to))
		return err_set(e, ERR_REFUSED, "task '%s' is %s", t->name, t->state);
	if (store_task_move(s, t->id, t->state, to, e) < 0)
		return err_wrap(e, "task '%s'", t->name);
	free(t->state);
	t->state = xstrdup(to);
	return 0;
}
