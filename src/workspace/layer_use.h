/*
 * How workspaces use their layers (layer.h): overlays mount them, the others get a copy of their files.
 *
 * What Garth brought in is no work. In an overlay that needs no check: the scan reads the upper directory,
 * which has only what the agent changed. On the host, the file tasks/<id>/brought has the stat data of each
 * copied file, and the scan leaves out those that have not changed.
 */
#ifndef WORKSPACE_LAYER_USE_H
#define WORKSPACE_LAYER_USE_H

#include "base/buf.h"
#include "base/err.h"
#include "git/scratch.h"
#include "workspace/layer.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

/* The layers of a workspace that exist, topmost first. */
struct layers {
	struct layer v[LAYERS_MAX];
	size_t n;
	struct strvec missing; /* names of those that do not exist */
};
int layers_open(const struct workspace *ws, struct layers *ret, struct err *e);
void layers_release(struct layers *l);
#define auto_layers __attribute__((cleanup(layers_release))) struct layers

/* The task gets another commit as its base: takes away the layers that have a path which the commit tracks. */
int layers_drop_colliding(const struct workspace *ws, const char *commit, struct err *e);

/* For garth-fsmonitor: every path of the roots from the top down, each ending in NUL. They are not in the
 * base, so git must look at them. */
void layers_report(const struct layers *l, struct buf *out);

/* Copies the layers' files to a workspace on the host and notes their stat data. Files that exist stay, and what
 * is at or below one of the paths of `skip` (may be NULL) is not copied. */
int layers_copy(struct workspace *ws, const struct strvec *skip, struct err *e);
/* Loads what layers_copy noted; empty if nothing. */
int layers_brought(const struct workspace *ws, struct tracked *ret, struct err *e);

/* Marks the changes of an overlay whose paths a layer has. */
int layers_mark(const struct workspace *ws, struct changes *c, struct err *e);
/* Adds files of the layers that were committed since and that the upper directory does not hide: the
 * workspace has them, though nothing of them is in the upper directory. */
int layers_committed(const struct workspace *ws, struct scratch *s, const char *since, const char *tip,
	struct changes *c, struct err *e);

#endif
