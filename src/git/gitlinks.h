/*
 * Lists the submodules of a commit: the entries of an index that are commits of other repositories
 * ("gitlinks"). Their files are not part of this repository; git makes an empty directory for each.
 */
#ifndef GIT_GITLINKS_H
#define GIT_GITLINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/oid.h"
#include "git/repo.h"

#define GITLINK_MODE 0160000

/* A commit with more of them is refused: each is a mount in a task. */
#define GITLINKS_MAX 500

struct gitlink {
	char *path;
	char oid[OID_SIZE];
};

struct gitlinks {
	struct gitlink *v;
	size_t n;
};

void gitlinks_release(struct gitlinks *g);
#define auto_gitlinks __attribute__((cleanup(gitlinks_release))) struct gitlinks

/* Reads the index file at this path. ERR_REFUSED beyond GITLINKS_MAX. */
int gitlinks_read(const char *index, unsigned hash_len, struct gitlinks *ret, struct err *e);

/* The id that a commit of the repository has at the path: for a submodule, its commit. False, and "", if the commit is
 * missing or has nothing there. */
bool gitlink_at(const struct repo *r, const char *commit, const char *path, char out[OID_SIZE]);

/*
 * Makes the user's git pass over the submodules of an index (assume-unchanged and skip-worktree), for files on the host
 * that an agent can write to. Otherwise `git status` would go into the directory of each, and obey the configuration of a
 * repository that the agent put there. git_dir is the index' git directory, work_tree its files.
 */
int gitlinks_hide(
	const char *git_dir, const char *work_tree, const char *index, unsigned hash_len, struct err *e);

#endif
