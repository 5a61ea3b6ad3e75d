/*
 * Archives (T7): a task goes to $GARTH_HOME/archives/<task>.<id>.tar.gz with all that it has, and `garth
 * undo` brings it back. It goes by way of the trash (remove.h), with a deed "archive" and the mark `archive`
 * in its directory, which keeps the trash from being emptied of it; its pins in the repository stay for as
 * long as it can come back.
 *
 *	in the trash, marked; "archived" in the store                            fault archive-trash
 *	packed, under a name of its own                                           fault archive-packed
 *	the file has its name; the directory goes
 *
 * What a crash leaves in between is in the trash and can come back from there; archive_settle packs it.
 */
#ifndef TASK_ARCHIVE_H
#define TASK_ARCHIVE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* *ret is the archive's path, on the heap. */
int task_archive(struct context *c, struct task *t, char **ret, struct err *e);
/* Packs what was left in the trash; *ret grows by their number. */
int archive_settle(struct context *c, size_t *ret, struct err *e);

/* For undo.h: puts a task that is in its archive into the trash again, and its lock into *ret_lock. Nothing
 * where it is there. */
int archive_open(struct context *c, const struct task *t, int *ret_lock, struct err *e);
/* The task is back: its archive and the mark in its directory go. */
void archive_forget(struct context *c, const struct task *t, int dir);

/* Whether the task has an archive to come back from. */
bool archive_is_there(const struct context *c, const struct task *t);
/* The same of one that only the number is known of. */
bool archive_holds(const struct context *c, int64_t id);
/* Whether the directory in the trash (a name there) waits to be packed. */
bool archive_waits(int trash, const char *name);

#define ARCHIVE_MARK "archive"

#endif
