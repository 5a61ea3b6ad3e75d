#include "acp/pending.h"

#include <stdlib.h>

#include "base/alloc.h"

static void release(struct pending *r)
{
	json_decref(r->id);
	json_decref(r->theirs);
}

void pending_release(struct pendings *l)
{
	for (size_t i = 0; i < l->n; i++)
		release(&l->v[i]);
	free(l->v);
	*l = (struct pendings){ 0 };
}

bool pending_add(struct pendings *l, const struct pending *r)
{
	if (l->n == PENDING_MAX || pending_find(l, r->id))
		return false;
	if (!(l->n & (l->n - 1)))
		l->v = xrealloc(l->v, l->n ? l->n * 2 : 1, sizeof(*l->v));
	l->v[l->n] = *r;
	json_incref(l->v[l->n].id);
	json_incref(l->v[l->n].theirs);
	l->n++;
	return true;
}

struct pending *pending_find(const struct pendings *l, const json_t *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (json_equal(l->v[i].id, id))
			return &l->v[i];
	return NULL;
}

struct pending *pending_find_theirs(const struct pendings *l, const struct agent *a, const json_t *theirs)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].agent == a && json_equal(l->v[i].theirs, theirs))
			return &l->v[i];
	return NULL;
}

void pending_drop(struct pendings *l, struct pending *r)
{
	release(r);
	*r = l->v[--l->n];
}
