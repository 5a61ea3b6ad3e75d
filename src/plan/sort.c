/* Finds the order of stages, and which come after which. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/finish.h"

static size_t words(const struct plan *p)
{
	return (p->nstages + 63) / 64;
}

static uint64_t *row(const struct plan *p, size_t i)
{
	return p->after + i * words(p);
}

bool plan_is_after(const struct plan *p, size_t a, size_t b)
{
	return row(p, a)[b / 64] >> (b % 64) & 1;
}

/* Follows the dependencies of unsorted stages until a stage comes a second time: that is a cycle. Every unsorted stage
 * depends on another unsorted one. */
static int refuse_cycle(const struct plan *p, const bool *sorted, struct err *e)
{
	size_t *seen = xcalloc(p->nstages, sizeof(*seen)), *next = xcalloc(p->nstages, sizeof(*next));
	auto_buf path = BUF_INIT(300);
	struct plan_place at = { 0 };
	size_t i = 0, first, step = 0;

	while (sorted[i])
		i++;
	for (; !seen[i]; i = next[i]) {
		seen[i] = ++step;
		for (size_t j = 0; j < p->stages[i].nneeds; j++)
			if (!sorted[p->stages[i].needs[j]]) {
				next[i] = p->stages[i].needs[j];
				break;
			}
	}
	first = i;
	do {
		for (size_t j = 0; j < p->stages[i].nneeds && i == first; j++)
			if (p->stages[i].needs[j] == next[i])
				at = p->stages[i].needs_at[j];
		if (!buf_printf(&path, "%s'%s'", path.len ? " waits for " : "", p->stages[i].id))
			break;
		i = next[i];
	} while (i != first);
	plan_error(p, at, e, "stages wait for each other in a circle: %s waits for %s'%s'", buf_str(&path),
		path.overflow ? "… " : "", p->stages[first].id);
	free(seen);
	free(next);
	return -1;
}

/* A stage comes after all that it depends on; of several possible ones, the first in the file comes first. */
int plan_sort(struct plan *p, struct err *e)
{
	bool *sorted = xcalloc(p->nstages, sizeof(*sorted));
	size_t n = 0, before;
	int rc = 0;

	p->order = xcalloc(p->nstages, sizeof(*p->order));
	p->after = xcalloc(p->nstages * words(p), sizeof(*p->after));
	do {
		before = n;
		for (size_t i = 0; i < p->nstages; i++) {
			const struct plan_stage *s = &p->stages[i];
			bool ready = !sorted[i];

			for (size_t j = 0; j < s->nneeds && ready; j++)
				ready = sorted[s->needs[j]];
			if (!ready)
				continue;
			for (size_t j = 0; j < s->nneeds; j++) {
				for (size_t w = 0; w < words(p); w++)
					row(p, i)[w] |= row(p, s->needs[j])[w];
				row(p, i)[s->needs[j] / 64] |= (uint64_t)1 << (s->needs[j] % 64);
			}
			sorted[i] = true;
			p->order[n++] = i;
		}
	} while (n < p->nstages && n > before);
	if (n < p->nstages)
		rc = refuse_cycle(p, sorted, e);
	free(sorted);
	return rc;
}
