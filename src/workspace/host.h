/*
 * Common code of the backends whose files are on the host, at ws->host (worktrees/<task>): reserves the
 * place, checks out the commit, and moves the files away and back. Nothing here uses task->workspace, the
 * path inside: on the host that may be the user's own checkout.
 */
#ifndef WORKSPACE_HOST_H
#define WORKSPACE_HOST_H

#include "base/buf.h"
#include "base/err.h"
#include "workspace/workspace.h"

/* The index of the user's git for the files, while these are in the task's directory. */
#define HOST_INDEX "host-index"

/* Makes the directory. ERR_EXISTS if something is there: the store says that the name is free, but if an
 * earlier store was lost, it may be somebody's work. A file `placed` in the task's directory records that the
 * place is this task's; host_is_placed checks it. */
int host_take_place(struct workspace *ws, struct err *e);
bool host_is_placed(const struct workspace *ws);
/* Lets the inside own the files. With root, the top directory stays root's, so that root's git trusts it. */
int host_open_to_inside(const struct workspace *ws, struct err *e);
/* Checks out the commit's files. Their index is written to the path `index` and into the buffer: one copy is
 * for the inside, one for comparing from outside. */
int host_check_out(
	struct workspace *ws, const char *commit, const char *index, struct buf *text, struct err *e);

/* Hides the submodules of the index from the user's git; git_dir is the git directory that the index belongs
 * to. After every new index. */
int host_hide_submodules(const struct workspace *ws, const char *git_dir, const char *index, struct err *e);
/* Mounts an empty, read-only directory over the directory of each submodule, so that nothing that runs inside
 * can put a repository there for the user's git to find. After the files' own row. */
int host_cover_submodules(const struct workspace *ws, const char *index, struct jail *j, struct err *e);

int host_files(struct workspace *ws);
int host_scan(struct workspace *ws, const char *index, struct changes *ret, struct err *e);
int host_export(struct workspace *ws, int out, struct export_report *ret, struct err *e);
/* Updates the index after the branch has moved to `tip`; unchanged entries keep their stat data. Submodules are
 * hidden. git_dir is the git directory that the index belongs to. */
int host_published(
	struct workspace *ws, const char *git_dir, const char *index, const char *tip, struct err *e);

/* Moves the files to `tree` in the task's directory. If `tree` exists, an undo was interrupted, and the place
 * has nothing but its .git. */
int host_move_away(struct workspace *ws, struct err *e);
/* Remove and restore for backends whose files are not registered with git. */
int host_leave(struct workspace *ws, struct err *e);
int host_return(struct workspace *ws, struct err *e);

#endif
