/* A rollback and the files that Garth brought into the workspace (workspace/layer.h): they are restored. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "history/rollback.h"
#include "inside/inside.h"
#include "sys/fd.h"
#include "workspace/layer_use.h"

/* In an overlay, whether the task has changed something in a place of its layers. */
static bool is_changed(int upper, const char *root)
{
	struct stat st;

	return !lstat_beneath(upper, root, &st);
}

int rollback_find_layers(struct inside *in, struct strvec *unchanged, struct err *e)
{
	auto_layers l = { 0 };
	auto_fd upper = -1;

	/* on the host everything is copied again */
	if (in->at.ws.backend->on_host)
		return 0;
	if (layers_open(&in->at.ws, &l, e) < 0)
		return -1;
	upper = workspace_files(&in->at.ws);
	for (size_t i = 0; upper >= 0 && i < l.n; i++)
		for (size_t k = 0; k < l.v[i].roots.n; k++)
			if (!is_changed(upper, l.v[i].roots.v[k]))
				strvec_push(unchanged, l.v[i].roots.v[k]);
	return 0;
}

static bool is_in(const struct strvec *list, const char *path)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (rollback_paths_meet(list->v[i], path))
			return true;
	return false;
}

/* Copies what the task changed from the layer. Only the inside can do that: nobody else changes an overlay
 * that is mounted. */
static int copy_inside(
	struct inside *in, const struct strvec *unchanged, const struct strvec *skip, struct err *e)
{
	auto_layers l = { 0 };

	if (layers_open(&in->at.ws, &l, e) < 0)
		return -1;
	for (size_t i = l.n; i-- > 0;)
		for (size_t k = 0; k < l.v[i].roots.n; k++) {
			const char *root = l.v[i].roots.v[k];
			auto_str from = xasprintf(INSIDE_LAYERS "/%zu/%s", i, root),
				 to = xasprintf("./%s", root);

			if (!strvec_has(unchanged, root) && !is_in(skip, root) &&
				inside_program(
					in, e, "cp", "-aT", "--remove-destination", "--", from, to, NULL) < 0)
				return err_wrap(e, "cannot restore '%s'", root);
		}
	return 0;
}

int rollback_restore_layers(
	struct inside *in, const struct strvec *unchanged, const struct strvec *skip, struct err *e)
{
	return in->at.ws.backend->on_host ? layers_copy(&in->at.ws, skip, e)
					  : copy_inside(in, unchanged, skip, e);
}
