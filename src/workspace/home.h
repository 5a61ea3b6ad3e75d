/*
 * Opens the Garth home ($GARTH_HOME, default ~/.garth, mode 0700), where everything of Garth is stored:
 *
 *	garth.db                  the store
 *	audit.jsonl               the audit log (audit/audit.h)
 *	identity                  which home this is (identity.h)
 *	bases/<project>/<commit>/ frozen checkouts (base.h)
 *	layers/<project>/<name>/  set-up layers and included files (layer.h)
 *	tasks/<id>/               one task: upper work git home tmp log control lock
 *	worktrees/<name>          files of worktree and clone tasks
 *	alone/<name>              files of tasks in a jail made by Landlock only
 *	stubs/                    the layer with the mount point for .git
 *	trash/<id>/               discarded tasks, kept for a while
 *	archives/                 archived tasks (task/archive.h)
 *	merges/                   journals of running merges (merge/journal.h)
 *	reserve                   disk space for emergencies (space.h)
 *	plain/                    empty repositories without settings, to run git in (git/neutral.h)
 *	scratch/                  temporary repositories of running commands
 */
#ifndef WORKSPACE_HOME_H
#define WORKSPACE_HOME_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct home {
	char *path; /* absolute, without links */
	int fd;
	char *copy_of; /* the home that this one is a copy of (identity.h); NULL */
	bool unnamed;  /* it has no identity yet */
};

/* env_home is $GARTH_HOME or NULL, user_home the user's home. Makes missing directories. */
int home_open(const char *env_home, const char *user_home, struct home *ret, struct err *e);
void home_release(struct home *h);
#define auto_home __attribute__((cleanup(home_release))) struct home

/* A path in the home, on the heap. */
char *home_path(const struct home *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Opens a task's directory; ERR_NOTFOUND if it is gone. */
int home_task_dir(const struct home *h, int64_t id, int *ret_fd, struct err *e);

/* The running kernel's boot id; "" if it cannot be read. */
void home_boot_id(char out[64]);
/* Whether the machine went down before the files of a base or a layer were synced. Its directory has a file `boot`, with
 * the boot id, until they are. */
bool home_is_torn(int dir);
/* Lists a directory of the home; *ret is NULL if it does not exist. The caller closes it. */
int home_list(const struct home *h, const char *place, DIR **ret, struct err *e);

#endif
