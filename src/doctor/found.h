/*
 * What is found without a task goes to the trash, whole:
 *
 *	trash/found-<number>/from           where it was
 *	trash/found-<number>/files/<name>   what it was
 *	trash/found-<number>/keep           the repository that has pins for it, where there are any
 *	trash/found-<number>/lock
 *
 * `garth gc` removes it, with its pins, when its term is over. Nothing is followed or opened: a link is moved
 * as a link.
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

/* Makes room for what was at the path `from`; git_dir may be NULL. */
int found_open(struct context *c, const char *from, const char *git_dir, struct found *ret, struct err *e);
/* Moves an entry of a directory there. */
int found_take(struct found *f, int dir, const char *name, struct err *e);
/* Removes it again, where nothing was moved. */
void found_drop(struct context *c, struct found *f);
void found_close(struct found *f);
#define auto_found __attribute__((cleanup(found_close))) struct found

/* All of it for one entry of a directory beneath the Garth home ("worktrees"); *ret is where it is now. */
int found_move(struct context *c, const char *place, const char *name, const char *git_dir, char **ret,
	struct err *e);

#endif
