/*
 * The Garth home ($GARTH_HOME, default ~/.garth, mode 0700) and the places in it:
 *
 *	garth.db                  the store
 *	identity                  which home this is (identity.h)
 *	bases/<project>/<commit>/ frozen checkouts (base.h)
 *	tasks/<id>/               one task: upper work git home tmp log control lock
 *	worktrees/<name>          where workspaces stand, inside and, for the worktree backend, outside
 *	stubs/                    the layer with the mount point for .git
 *	trash/<id>/               discarded tasks, kept for a while
 *	reserve                   room on a full disk (space.h)
 *	plain/                    empty repositories to run git in, without settings (git/neutral.h)
 *	scratch/                  throw-away repositories of commands that are running
 */
#ifndef WORKSPACE_HOME_H
#define WORKSPACE_HOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct home {
	char *path; /* real, absolute */
	int fd;
	char *copy_of; /* the home that this one is a copy of (identity.h); NULL */
	bool unnamed;  /* it has no identity yet */
};

/* env_home is $GARTH_HOME or NULL, user_home the user's home. Makes what is not there. */
int home_open(const char *env_home, const char *user_home, struct home *ret, struct err *e);
void home_release(struct home *h);
#define auto_home __attribute__((cleanup(home_release))) struct home

/* The path of something in the home, on the heap. */
char *home_path(const struct home *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A task's directory; ERR_NOTFOUND where it is gone. */
int home_task_dir(const struct home *h, int64_t id, int *ret_fd, struct err *e);

/* The running kernel's boot id, or "" where it cannot be read. */
void home_boot_id(char out[64]);

#endif
