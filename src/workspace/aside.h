/*
 * Moves ignored directories out of a workspace for a rollback, and back. Each directory is moved as a whole
 * by one rename, so a node_modules of 200,000 files costs as much as an empty one.
 *
 * The command that wants the rollback makes the moves, under the task's lock, before the keeper starts and
 * after it has ended: then nothing runs inside and no overlay is mounted. The gateway, which does the rest of
 * the rollback while the task runs, only renames within tasks/<id>/snapshots:
 *
 *	aside/     set aside; no snapshot has them yet
 *	N.aside/   set aside for the rollback that took snapshot N, which is not recorded yet
 *	N.kept/    part of snapshot N
 *	N.back/    to be moved back into the workspace: the rollback that took snapshot N is undone
 *	N.again    a copy of N.kept must be made and moved into the workspace
 *	N.part/    that copy, while it is made
 *	N.copy/    that copy, complete, to be moved into the workspace
 *	N.given    what an undo took out of snapshot N: a list, for messages
 *
 * Each directory has a file `list`, which is written and synced before anything is moved, and the moved
 * directories, named by their number in the list. A directory is either in the workspace or here, never in
 * both and never lost. aside_settle finishes what a crash interrupted.
 *
 * Order: aside_settle, aside_take; then in the gateway aside_number, aside_keep, aside_return; then
 * aside_settle.
 *
 * Nothing in a workspace is trusted: every path is opened beneath a descriptor, and only its last name is
 * renamed, which follows no link.
 */
#ifndef WORKSPACE_ASIDE_H
#define WORKSPACE_ASIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strvec.h"
#include "workspace/workspace.h"

/* Further directories stay in the workspace and go into the snapshot's pack. */
#define ASIDE_MAX 1000

/* Lists the topmost directories of the workspace that git ignores as a whole and in which neither the commit
 * `tip` nor the commits below the workspace have a file. A directory is not listed if git could not decide
 * about it within IGNORED_SECONDS. (aside_find.c) */
int aside_find(struct workspace *ws, const char *tip, struct strvec *ret, struct err *e);
/* Lists those of the paths that are in the commit below an overlay. Workspaces on the host have no such
 * commit. (aside_find.c) */
int aside_covered(struct workspace *ws, const struct strvec *paths, struct strvec *ret, struct err *e);

/* Moves what aside_find lists to aside/. Does nothing if aside/ exists. */
int aside_take(struct workspace *ws, const char *tip, struct err *e);

/* Whether aside_settle has something to do in this task's directory. */
bool aside_is_pending(int task_dir);
/* Moves everything back that is pending, and makes the copies that are due. `recorded` is the snapshot of the
 * task's last recorded rollback, which keeps what was set aside for it; 0: none. For each directory that
 * cannot be moved to its place, *stuck gets a line; the directory stays here. */
int aside_settle(struct workspace *ws, int64_t recorded, struct strvec *stuck, struct err *e);

/* aside_number assigns what was set aside to the rollback that took this snapshot; aside_keep makes it a part
 * of the snapshot. Both do nothing if nothing is set aside. */
int aside_number(struct workspace *ws, int64_t snapshot, struct err *e);
int aside_keep(struct workspace *ws, int64_t snapshot, struct err *e);
/* The paths of what the snapshot keeps, and of what an undo took out of it. */
int aside_kept(struct workspace *ws, int64_t snapshot, struct strvec *ret, struct err *e);
int aside_given(struct workspace *ws, int64_t snapshot, struct strvec *ret, struct err *e);
/* Whether an undo of the rollback that took this snapshot has reached its last step. */
bool aside_is_undone(int task_dir, int64_t snapshot);
/* The next aside_settle moves them into the workspace: the directories themselves or, if `copy` is set,
 * copies. */
int aside_return(struct workspace *ws, int64_t snapshot, bool copy, struct err *e);

#endif
