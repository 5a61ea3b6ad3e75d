#include "agent/claude.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/alloc.h"

/* What was said and done in a project, as against how it is set up. */
static const char *const told[] = { "history", "lastSessionId", "lastCost", "lastDuration", "lastAPIDuration",
	"lastToolDuration", "lastLinesAdded", "lastLinesRemoved", "lastModelUsage", "exampleFiles" };

/* The repository's entry becomes the workspace's: with it, whether the user trusts what is in there. */
static json_t *own_project(const json_t *projects, const struct agent_place *p)
{
	json_t *own = json_object(), *known = json_object_get(projects, p->project);

	if (!json_is_object(known))
		return own;
	known = json_deep_copy(known);
	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		json_object_del(known, told[i]);
	json_object_set_new(own, p->workspace, known);
	return own;
}

void claude_own_part(struct buf *text, const struct agent_place *p)
{
	json_t *all = json_loadb(buf_str(text), text->len, 0, NULL),
	       *projects = json_object_get(all, "projects");
	char *own = NULL;

	if (json_is_object(projects)) {
		json_object_set_new(all, "projects", own_project(projects, p));
		json_object_del(all, "githubRepoPaths");
		own = json_dumps(all, JSON_INDENT(2));
	}
	json_decref(all);
	if (!own)
		return;
	buf_reset(text);
	buf_addstr(text, own);
	free(own);
}
