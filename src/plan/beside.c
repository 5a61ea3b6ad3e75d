#include "plan/beside.h"

#include "plan/stage_life.h"

/* Something has run in its task, or is about to. A quota gives the attempt back, but the agent's changes stay. */
static bool has_begun(const struct stage_row *s)
{
	return s->attempt || s->starting || s->task_id;
}

static bool lists(const struct plan_stage *s, size_t other)
{
	for (size_t i = 0; i < s->noverlaps; i++)
		if (s->overlaps[i] == other)
			return true;
	return false;
}

/* The slot is taken before the process that starts the agent begins, so it also shows a stage that is starting now. */
static bool is_in_the_way(const struct stage_row *s, const struct stage_row *of)
{
	if (stage_is_over(s) || s->id == of->id)
		return false;
	return s->slot || (has_begun(s) && !has_begun(of) && !stage_is(s, STAGE_WAITING));
}

long beside_blocker(const struct plan *p, const struct stage_row_list *all, size_t stage)
{
	const struct stage_row *own = &all->v[stage];

	if (own->slot)
		return -1;
	for (size_t i = 0; i < all->n && i < p->nstages; i++)
		if (is_in_the_way(&all->v[i], own) &&
			(lists(&p->stages[stage], i) || lists(&p->stages[i], stage)))
			return (long)i;
	return -1;
}
