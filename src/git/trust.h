/*
 * What a repository's own configuration may not do before the user has said that it is trusted. A push or a
 * fetch runs with the user's configuration and credentials; a repository that somebody else made (a tarball,
 * a copied directory) brings a configuration too, which could name a program to run, or a proxy that reads
 * the user's password. Settings in the user's own files (global, system) count as they always do.
 *
 * The user's word is a line in the user's own git configuration, as with safe.directory:
 *
 *	git config --global --add garth.trust /home/ann/src/app
 */
#ifndef GIT_TRUST_H
#define GIT_TRUST_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* ERR_REFUSED, with the setting's name, where the repository's own configuration has one that git would obey
 * in a push or fetch and that can run a program or lead the user's credentials elsewhere. */
int trust_check(const struct repo *r, struct err *e);

/* The hooks of a repository on this machine that is pushed to are run by the user. ERR_REFUSED where the one
 * at `place` has any, or names other programs, and the user has trusted neither it nor r. */
int trust_check_pushed(const struct repo *r, const char *place, struct err *e);

/* The same for a list as `git config --list --show-scope -z` prints it ("scope\0key\nvalue\0" …); `place` is
 * what the user would have named. Pure. */
int trust_check_list(const struct buf *list, const char *place, struct err *e);

#endif
