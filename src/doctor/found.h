/*
 * Moves something that belongs to no task to the trash, as a whole:
 *
 *	trash/found-<number>/from           its old path
 *	trash/found-<number>/files/<name>   the thing itself
 *	trash/found-<number>/keep           the repository that has pins for it, if there are any
 *	trash/found-<number>/lock
 *
 * It stays there until `garth gc --empty-trash` removes it with its pins (task/remove.h). Nothing is followed
 * or opened: a link is moved as a link.
 *
 *	found_open; found_take for each entry; found_close, or found_drop if nothing was moved
 */
#ifndef DOCTOR_FOUND_H
#define DOCTOR_FOUND_H

#include "base/err.h"
#include "task/context.h"

struct found {
	char *name; /* in trash/ */
	int dir;
	int lock;
};
#define FOUND_INIT                                                                                           \
	{                                                                                                    \
		.dir = -1, .lock = -1                                                                        \
	}

/* Makes the directory for something from the path `from`; git_dir may be NULL. */
int found_open(struct context *c, const char *from, const char *git_dir, struct found *ret, struct err *e);
/* Moves an entry of the directory `dir` there. */
int found_take(struct found *f, int dir, const char *name, struct err *e);
/* Removes the directory again, if nothing was moved. */
void found_drop(struct context *c, struct found *f);
void found_close(struct found *f);
#define auto_found __attribute__((cleanup(found_close))) struct found

/* Does all steps for one entry of a directory below the Garth home ("worktrees"); *ret is its new path. */
int found_move(struct context *c, const char *place, const char *name, const char *git_dir, char **ret,
	struct err *e);

#endif
