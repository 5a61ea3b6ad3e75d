#include "plan/waves.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Whether this wave has a stage that must not run beside s. */
static bool is_beside(const struct plan *p, size_t s, const size_t *waves, const bool *placed, size_t wave)
{
	for (size_t i = 0; i < p->stages[s].noverlaps; i++)
		if (placed[p->stages[s].overlaps[i]] && waves[p->stages[s].overlaps[i]] == wave)
			return true;
	for (size_t i = s + 1; i < p->nstages; i++)
		for (size_t j = 0; placed[i] && waves[i] == wave && j < p->stages[i].noverlaps; j++)
			if (p->stages[i].overlaps[j] == s)
				return true;
	return false;
}

size_t plan_waves(const struct plan *p, size_t *ret)
{
	bool *placed = xcalloc(p->nstages, sizeof(*placed));
	size_t n = 0;

	for (size_t i = 0; i < p->nstages; i++) {
		size_t at = p->order[i], wave = 0;
		const struct plan_stage *s = &p->stages[at];

		for (size_t j = 0; j < s->nneeds; j++)
			if (ret[s->needs[j]] >= wave)
				wave = ret[s->needs[j]] + 1;
		while (is_beside(p, at, ret, placed, wave))
			wave++;
		ret[at] = wave;
		placed[at] = true;
		if (wave >= n)
			n = wave + 1;
	}
	free(placed);
	return n;
}
