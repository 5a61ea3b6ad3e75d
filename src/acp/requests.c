#include "acp/requests.h"

#include <stdlib.h>

#include "base/alloc.h"

static void release(struct request *r)
{
	json_decref(r->id);
	json_decref(r->theirs);
}

void requests_release(struct requests *l)
{
	for (size_t i = 0; i < l->n; i++)
		release(&l->v[i]);
	free(l->v);
	*l = (struct requests){ 0 };
}

bool requests_add(struct requests *l, const struct request *r)
{
	if (l->n == REQUESTS_MAX || requests_find(l, r->id))
		return false;
	if (!(l->n & (l->n - 1)))
		l->v = xrealloc(l->v, l->n ? l->n * 2 : 1, sizeof(*l->v));
	l->v[l->n] = *r;
	json_incref(l->v[l->n].id);
	json_incref(l->v[l->n].theirs);
	l->n++;
	return true;
}

struct request *requests_find(const struct requests *l, const json_t *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (json_equal(l->v[i].id, id))
			return &l->v[i];
	return NULL;
}

struct request *requests_find_theirs(const struct requests *l, const struct agent *a, const json_t *theirs)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].agent == a && json_equal(l->v[i].theirs, theirs))
			return &l->v[i];
	return NULL;
}

void requests_drop(struct requests *l, struct request *r)
{
	release(r);
	*r = l->v[--l->n];
}
