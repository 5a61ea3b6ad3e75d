/*
 * What the backends have in common whose files are on the host, at ws->host (worktrees/<task>): the place is
 * taken, the commit checked out there, and the files looked at, moved away and put back from outside. Nothing
 * here uses task->workspace, the path inside: on the host that may be the user's own checkout.
 */
#ifndef WORKSPACE_HOST_H
#define WORKSPACE_HOST_H

#include "base/buf.h"
#include "base/err.h"
#include "workspace/workspace.h"

/* The index that the user's git had for the files, while they are in the task's directory. */
#define HOST_INDEX "host-index"

/* Makes the directory. The name is free in the store, but after a store was lost somebody's work may still
 * stand there: ERR_EXISTS. `placed` in the task's directory tells that it is this task's. */
int host_take_place(struct workspace *ws, struct err *e);
bool host_is_placed(const struct workspace *ws);
/* Root's directory stays root's, so that root's git trusts it; what is in it belongs to the inside. */
int host_open_to_inside(const struct workspace *ws, struct err *e);
/* The commit's files; the index that tells about them goes to the path and into the buffer: it serves
 * twice, inside and for looking from outside. */
int host_check_out(
	struct workspace *ws, const char *commit, const char *index, struct buf *text, struct err *e);

int host_files(struct workspace *ws);
int host_scan(struct workspace *ws, const char *index, struct changes *ret, struct err *e);
int host_export(struct workspace *ws, int out, struct export_report *ret, struct err *e);
/* The branch has moved to tip, and the index follows; entries that stay keep their stat data. git_dir is the
 * one that the index belongs to. */
int host_published(
	struct workspace *ws, const char *git_dir, const char *index, const char *tip, struct err *e);

/* Into the task's directory, as `tree`. Where the files are there already, an undo was cut short, and nothing
 * but its .git stands at the place. */
int host_move_away(struct workspace *ws, struct err *e);
/* All there is to removing and restoring where git keeps no record of the files. */
int host_leave(struct workspace *ws, struct err *e);
int host_return(struct workspace *ws, struct err *e);

#endif
