/*
 * Git over a repository's objects without its configuration: for every git that writes files out, hashes
 * them, or merges. What a repository's configuration names as a filter, a merge driver or the like is a
 * program, and attributes, which an agent may write, choose it. Here GIT_DIR is an empty repository of
 * Garth's own, beside GIT_OBJECT_DIRECTORY, so there is no filter and no driver to be chosen. A few settings
 * that are plain facts are carried over.
 *
 *	auto_neutral p = NEUTRAL_INIT;
 *	if (neutral_open(r, r->git_dir, &p, e) < 0) …
 *	p.git.index = index;
 *	git_do(&p.git, …)
 *
 * It has no refs: commits are named by their ids.
 */
#ifndef GIT_NEUTRAL_H
#define GIT_NEUTRAL_H

#include "base/err.h"
#include "git/repo.h"

struct neutral {
	struct git git; /* fields beyond dir, objects and settings are the caller's to fill in */
	char *dir, *objects;
	struct strvec settings;
};

#define NEUTRAL_INIT                                                                                         \
	{                                                                                                    \
		.settings = STRVEC_INIT                                                                      \
	}

/* Makes the empty repositories in plain/ of the Garth home, if they are not there, and remembers the place
 * for this process. */
int neutral_make(int home, const char *home_path, struct err *e);

/* The same with a git directory of its own at `at`, which has the repository's info/exclude: where git looks
 * at ignored files. To be removed by the caller. */
int neutral_open_at(const struct repo *r, const char *at, struct neutral *ret, struct err *e);
/* git_dir is the one whose settings count: the repository's, or that of one of its worktrees. */
int neutral_open(const struct repo *r, const char *git_dir, struct neutral *ret, struct err *e);
void neutral_release(struct neutral *p);
#define auto_neutral __attribute__((cleanup(neutral_release))) struct neutral

#endif
