/*
 * The submodules that differ between two commits of a repository: "links" to commits of other repositories.
 *
 *	links_find     those that both commits have, each at another commit
 *	links_check    the user's repositories of them have the new commits
 *	links_merge    both sides of a merge moved a submodule, and one of the two commits has the other
 */
#ifndef MERGE_LINKS_H
#define MERGE_LINKS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "git/repo.h"

struct link {
	char *path;
	char from[OID_SIZE], to[OID_SIZE];
};

struct links {
	struct link *v;
	size_t n;
};

void links_release(struct links *l);
#define auto_links __attribute__((cleanup(links_release))) struct links
/* Adds a path of a difference if it is one. */
struct diff_entry;
void links_note(const struct repo *r, const struct diff_entry *d, struct links *l);
int links_find(const struct repo *r, const char *from, const char *to, struct links *ret, struct err *e);

/* Opens the user's repository of the submodule that `commit` of the repository has at `path`. ERR_NOTFOUND. */
int links_open(const struct repo *r, const char *commit, const char *path, struct repo *ret, struct err *e);

/* ERR_REFUSED, by name, if the repository of a submodule is not here, or has its new commit on no branch. The commit
 * `to` of the superproject says which repository that is. */
int links_check(const struct repo *r, const char *to, const struct links *l, struct err *e);

/* What `git merge-tree` says of the paths in conflict, "MODE OID STAGE\tPATH" with a NUL after each, beginning at
 * `at`. git cannot see the repositories of submodules from where it runs. So for each submodule of which one side has
 * all commits of the other, a commit is made in which both sides have that one; *ours and *theirs become these commits
 * (of size OID_SIZE). Returns 1 if there are such: then the merge can be tried again. Else 0, with the paths. */
int links_merge(const struct repo *r, const struct buf *stages, size_t at, char *ours, char *theirs,
	struct strvec *conflicts, struct err *e);

#endif
