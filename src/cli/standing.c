#include "cli/standing.h"

#include <stdio.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "task/life.h"

void standing_release(struct standing *s)
{
	strvec_release(&s->conflicts);
	*s = (struct standing){ 0 };
}

void standing_find(struct context *c, const struct task *t, const struct task_list *all, struct standing *ret)
{
	struct err ignored = ERR_INIT;

	if (t->removed)
		return;
	ret->known = !merge_divergence(c, t, &ret->divergence, &ignored);
	if (all && strcmp(t->state, STATE_MERGED))
		merge_conflicts(c, t, all, &ret->conflicts, &ignored);
}

const char *standing_word(const struct standing *s)
{
	const struct divergence *d = &s->divergence;

	if (!s->known)
		return "unknown";
	if (d->ahead && d->behind)
		return "diverged";
	return d->ahead ? "ahead" : d->behind ? "behind" : "synced";
}

const char *standing_sign(const struct standing *s, char *out, size_t len)
{
	const struct divergence *d = &s->divergence;

	if (!s->known)
		snprintf(out, len, "%s", "");
	else if (d->ahead && d->behind)
		snprintf(out, len, "+%zu -%zu", d->ahead, d->behind);
	else if (d->ahead)
		snprintf(out, len, "+%zu", d->ahead);
	else if (d->behind)
		snprintf(out, len, "-%zu", d->behind);
	else
		snprintf(out, len, "=");
	return out;
}

void standing_json(const struct standing *s, json_t *o)
{
	json_object_set_new(o, "standing", json_string(standing_word(s)));
	json_object_set_new(
		o, "ahead", s->known ? json_integer((json_int_t)s->divergence.ahead) : json_null());
	json_object_set_new(
		o, "behind", s->known ? json_integer((json_int_t)s->divergence.behind) : json_null());
	json_object_set_new(o, "conflicts", json_list(&s->conflicts));
}
