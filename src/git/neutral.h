/*
 * Runs git on a repository's objects without its configuration. Every git that writes files out, hashes them
 * or merges runs this way: the configuration can name programs as filters or merge drivers, and attributes,
 * which an agent may write, choose them. Here GIT_DIR is an empty repository that Garth made, and
 * GIT_OBJECT_DIRECTORY is the user's, so there is no filter or driver to choose. A few settings that name no
 * program are copied.
 *
 *	auto_neutral p = NEUTRAL_INIT;
 *	if (neutral_open(r, r->git_dir, &p, e) < 0) …
 *	p.git.index = index;
 *	git_do(&p.git, …)
 *
 * It has no refs: name commits by their ids.
 */
#ifndef GIT_NEUTRAL_H
#define GIT_NEUTRAL_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"

struct neutral {
	struct git git; /* the caller may set fields other than dir, objects and settings */
	char *dir, *objects, *shallow;
	struct strvec settings;
};

#define NEUTRAL_INIT                                                                                         \
	{                                                                                                    \
		.settings = STRVEC_INIT                                                                      \
	}

/* Creates the empty repositories in plain/ of the Garth home if they do not exist, and stores the path for
 * this process. To be called before neutral_open. */
int neutral_make(int home, const char *home_path, struct err *e);

/* Like neutral_open, but creates a git directory at `at` with the repository's info/exclude, for commands
 * that respect ignored files. The caller removes it. */
int neutral_open_at(const struct repo *r, const char *at, struct neutral *ret, struct err *e);
/* Like neutral_open, for commands that write or hash files: with the repository's info/attributes. With `users`
 * the files are in the user's own checkout, and core.autocrlf, core.eol and core.symlinks are in force,
 * as the user or the repository has set them. The files of tasks never depend on these. */
int neutral_open_files(
	const struct repo *r, const char *git_dir, bool users, struct neutral *ret, struct err *e);
/* git_dir is the one whose settings are copied: the repository's, or that of one of its worktrees. */
int neutral_open(const struct repo *r, const char *git_dir, struct neutral *ret, struct err *e);
void neutral_release(struct neutral *p);
#define auto_neutral __attribute__((cleanup(neutral_release))) struct neutral

#endif
