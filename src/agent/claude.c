#include "agent/claude.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Keys of a project that record what was done in it; the other keys are its settings. */
static const char *const history_keys[] = { "history", "lastSessionId", "lastCost", "lastDuration",
	"lastAPIDuration", "lastToolDuration", "lastLinesAdded", "lastLinesRemoved", "lastModelUsage",
	"exampleFiles" };

/* Keeps the repository's entry under the workspace's path. It also says that the user trusts the directory: what a
 * task's files can do is limited by its walls, and nobody should be asked again in each task. */
static json_t *own_project(const json_t *projects, const struct agent_place *p)
{
	json_t *own = json_object(), *known = json_object_get(projects, p->project);

	known = json_is_object(known) ? json_deep_copy(known) : json_object();
	json_object_set_new(known, "hasTrustDialogAccepted", json_true());
	for (size_t i = 0; i < ARRAY_SIZE(history_keys); i++)
		json_object_del(known, history_keys[i]);
	json_object_set_new(own, p->workspace, known);
	return own;
}

void claude_own_part(struct buf *text, const struct agent_place *p)
{
	json_t *all = json_loadb(buf_str(text), text->len, 0, NULL),
	       *projects = json_object_get(all, "projects");
	char *own = NULL;

	if (json_is_object(all)) {
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
