#include "plan/stage_config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/resolution.h"
#include "task/stage_files.h"

static void add_globs(const struct plan_patterns *p, json_t *list)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].glob)
			json_array_append_new(list, json_string(p->v[i].glob));
		if (p->v[i].also)
			json_array_append_new(list, json_string(p->v[i].also));
	}
}

/* The only paths that it may change; NULL: there is no limit. A conflict is solved within what both sides may change. */
static json_t *scope(const struct stage_job *j)
{
	json_t *list = json_array();
	bool limited = j->stage->has_files;

	add_globs(&j->stage->files, list);
	for (size_t i = 0; j->at->own_id && i < j->plan->nstages; i++) {
		if (!resolution_is_against(j, i))
			continue;
		limited &= j->plan->stages[i].has_files;
		add_globs(&j->plan->stages[i].files, list);
	}
	if (limited)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *list_of(const struct strvec *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, json_string(v->v[i]));
	return list;
}

/* Lets a stage merge the integration branch into its own, to solve a conflict, unless the user's configuration has a rule
 * for that. */
static json_t *operations(const struct config *user)
{
	for (size_t i = 0; i < user->noperations; i++)
		if (!strcmp(user->operations[i].name, "merge"))
			return json_object();
	return json_pack("{s:s}", "merge", "local");
}

void stage_config(const struct config *user, const struct stage_job *j, struct buf *out)
{
	const struct plan_stage *s = j->stage;
	json_t *protect = json_array(), *policy = json_object(), *within = scope(j), *all;
	auto_str text = NULL;

	add_globs(&s->protect, protect);
	json_array_append_new(protect, json_string("/" STAGE_FILES_NAME));
	json_object_set_new(policy, "protected", protect);
	if (within)
		json_object_set_new(policy, j->row->tickets ? "within" : "scope", within);
	all = json_pack("{s:o, s:{s:o}, s:{s:o, s:o, s:o}}", "policy", policy, "git", "operations",
		operations(user), "jail", "deny_read", list_of(&s->sandbox.deny_read), "deny_write",
		list_of(&s->sandbox.deny_write), "allow_write", list_of(&s->sandbox.allow_write));
	if (j->row->tickets)
		json_object_set_new(all, "tickets", json_pack("{s:i}", "max", 0));
	text = json_dumps(all, JSON_INDENT(1));
	buf_addstr(out, text ? text : "");
	json_decref(all);
}
