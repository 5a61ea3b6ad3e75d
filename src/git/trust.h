/*
 * Checks what a repository's own configuration could do in a push or a fetch. These run with the user's
 * configuration and credentials. A repository that somebody else made (a tarball, a copied directory) has a
 * configuration too, which could name a program to run, or a proxy that reads the user's password. So it is
 * refused until the user trusts the repository. Settings in the user's own files (global, system) are always
 * used.
 *
 * The user trusts a repository with a line in the user's git configuration, as with safe.directory:
 *
 *	git config --global --add garth.trust /home/ann/src/app
 */
#ifndef GIT_TRUST_H
#define GIT_TRUST_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* ERR_REFUSED, with the setting's name, if the repository's own configuration has one that git would use in a
 * push or fetch and that can run a program or send the user's credentials elsewhere. */
int trust_check(const struct repo *r, struct err *e);
/* The same, and whether the user trusts the repository. */
int trust_look(const struct repo *r, bool *ret_trusted, struct err *e);

/* If a push goes to a repository on this machine, git runs its hooks as the user. ERR_REFUSED if the one at
 * `place` has hooks or names other programs, and the user trusts neither it nor r. This cannot find everything: a file
 * can be included on conditions that hold only for the git that is pushed to. So if *ret_trusted is false, that git must
 * not run any program (remote.c). */
int trust_check_pushed(const struct repo *r, const char *place, bool *ret_trusted, struct err *e);

/* For what a task gets along from outside the repository because its own configuration, or a link in it, says so: a
 * stranger's repository could name any of the user's files. ERR_REFUSED with the text unless the user trusts r. */
int trust_check_outside(const struct repo *r, const char *what, struct err *e);
/* Whether the value that git uses for the key is set by the repository's own configuration. */
int trust_is_own(const struct repo *r, const char *key, bool *ret, struct err *e);

/* The same for a list as `git config --list --show-scope -z` prints it ("scope\0key\nvalue\0" …). `place` is
 * the path for the message. */
int trust_check_list(const struct buf *list, const char *place, struct err *e);

#endif
