/*
 * Ignored directories that a rollback takes out of a workspace: each is moved as a whole, by one rename, and
 * comes back by one. A node_modules of 200,000 files costs as much as an empty one.
 *
 * The moves are made by the command that wants the rollback, before the task's keeper starts and after it has
 * ended, under the task's lock: nobody is inside and no overlay is mounted. The gateway, which does the rest
 * of the rollback while one is, only renames within tasks/<id>/snapshots:
 *
 *	aside/     set aside, and no snapshot has them yet
 *	N.aside/   set aside for the rollback that took snapshot N, which is not recorded yet
 *	N.kept/    part of snapshot N
 *	N.back/    on their way back into the workspace: the rollback that took snapshot N is undone
 *	N.again    a copy of N.kept is to go into the workspace
 *	N.part/    that copy, while it is made
 *	N.copy/    that copy, on its way into the workspace
 *	N.given    what an undo took out of snapshot N: a list, for people
 *
 * Each directory has a file `list`, written and synced before anything is moved, and the moved directories
 * by their number in it. A directory is in the workspace or here, never in both and never in neither;
 * aside_settle finishes what a crash cut short.
 *
 * Order: aside_settle, aside_take; then in the gateway aside_number, aside_keep, aside_return; then
 * aside_settle. Nothing in a workspace is trusted: all of it is opened beneath a descriptor, and only the
 * last name of a path is renamed, which follows no link.
 */
#ifndef WORKSPACE_ASIDE_H
#define WORKSPACE_ASIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strvec.h"
#include "workspace/workspace.h"

/* More than these are left to the snapshot's pack. */
#define ASIDE_MAX 1000

/* aside_find.c: the topmost directories of the workspace that git ignores as a whole, of which neither the
 * commit `tip` nor the commits below the workspace have anything. Those that git could not tell about in
 * IGNORED_SECONDS are not among them. */
int aside_find(struct workspace *ws, const char *tip, struct strvec *ret, struct err *e);
/* aside_find.c: those of the paths that the commit below an overlay has. Files on the host have none below. */
int aside_covered(struct workspace *ws, const struct strvec *paths, struct strvec *ret, struct err *e);

/* Moves them to aside/. Does nothing if something is there already. */
int aside_take(struct workspace *ws, const char *tip, struct err *e);

/* Whether aside_settle has something to do, in the directory of a task. */
bool aside_is_pending(int task_dir);
/* Puts everything back that is on its way, and makes the copies that are due. recorded: the snapshot that
 * the task's last recorded rollback took, which keeps what was set aside for it; 0 for none. *stuck gets a
 * line for each directory that cannot go to its place: it stays here. */
int aside_settle(struct workspace *ws, int64_t recorded, struct strvec *stuck, struct err *e);

/* What was set aside is for the rollback that took this snapshot, and then belongs to it. Nothing set aside
 * is no error. */
int aside_number(struct workspace *ws, int64_t snapshot, struct err *e);
int aside_keep(struct workspace *ws, int64_t snapshot, struct err *e);
/* The paths of what the snapshot keeps; of what an undo took out of it. */
int aside_kept(struct workspace *ws, int64_t snapshot, struct strvec *ret, struct err *e);
int aside_given(struct workspace *ws, int64_t snapshot, struct strvec *ret, struct err *e);
/* Whether an undo of the rollback that took this snapshot has come to its last step. */
bool aside_is_undone(int task_dir, int64_t snapshot);
/* The next aside_settle puts them into the workspace: themselves, or (copy) the like. */
int aside_return(struct workspace *ws, int64_t snapshot, bool copy, struct err *e);

#endif
