#include "cli/task_relations.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/json.h"
#include "git/ref.h"
#include "task/life.h"

/* At most so many paths are named in one line. */
#define PATHS_SHOWN 5

void relations_release(struct relations *s)
{
	conflict_list_release(&s->conflicts);
	*s = (struct relations){ 0 };
}

void relations_find(
	struct context *c, const struct task *t, const struct task_list *all, struct relations *ret)
{
	struct err ignored = ERR_INIT;

	if (t->removed)
		return;
	ret->known = !merge_divergence(c, t, &ret->divergence, &ignored);
	if (all && strcmp(t->state, STATE_MERGED))
		merge_conflicts(c, t, all, &ret->conflicts, &ignored);
}

const char *relations_word(const struct relations *s)
{
	const struct divergence *d = &s->divergence;

	if (!s->known)
		return "unknown";
	if (d->ahead && d->behind)
		return "diverged";
	return d->ahead ? "ahead" : d->behind ? "behind" : "synced";
}

const char *relations_sign(const struct relations *s, char *out, size_t len)
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

/* The other task's name and paths, from the conflicts beginning at *i that are with the same task. */
static void next_other(const struct task *t, const struct relations *s, const bool *told, size_t *i,
	char **ret_name, char **ret_paths)
{
	const struct conflict *v = s->conflicts.v;
	auto_buf paths = BUF_SMALL;
	size_t first = *i, n = 0;

	for (; *i < s->conflicts.n &&
		(v[*i].task == v[first].task ||
			(v[*i].task && v[first].task && !strcmp(v[*i].task, v[first].task)));
		(*i)++)
		if ((!told || !told[*i]) && n++ < PATHS_SHOWN)
			buf_printf(&paths, "%s%s", paths.len ? ", " : "", v[*i].path);
	if (n > PATHS_SHOWN)
		buf_printf(&paths, " and %zu more", n - PATHS_SHOWN);
	*ret_name = xstrdup(v[first].task ? v[first].task : ref_short(t->target));
	*ret_paths = buf_steal(&paths);
}

void relations_conflict_lines(
	const struct task *t, const struct relations *s, const bool *told, struct strvec *ret)
{
	auto_strvec names = STRVEC_INIT, paths = STRVEC_INIT;

	for (size_t i = 0; i < s->conflicts.n;) {
		auto_str name = NULL, text = NULL;
		size_t same;

		next_other(t, s, told, &i, &name, &text);
		for (same = 0; same < paths.n && strcmp(paths.v[same], text); same++)
			;
		if (same < paths.n) {
			char *all = xasprintf("%s, %s", names.v[same], name);

			free(names.v[same]);
			names.v[same] = all;
		} else if (*text) {
			strvec_push(&names, name);
			strvec_push(&paths, text);
		}
	}
	for (size_t i = 0; i < names.n; i++)
		strvec_pushf(ret, "%s: %s", names.v[i], paths.v[i]);
}

void relations_json(const struct relations *s, json_t *o)
{
	json_t *list = json_array();

	json_object_set_new(o, "standing", json_string(relations_word(s)));
	json_object_set_new(
		o, "ahead", s->known ? json_integer((json_int_t)s->divergence.ahead) : json_null());
	json_object_set_new(
		o, "behind", s->known ? json_integer((json_int_t)s->divergence.behind) : json_null());
	for (size_t i = 0; i < s->conflicts.n; i++)
		json_array_append_new(list, json_pack("{s:s?, s:o}", "task", s->conflicts.v[i].task, "path",
						    json_text(s->conflicts.v[i].path)));
	json_object_set_new(o, "conflicts", list);
}
