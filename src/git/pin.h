/*
 * One ref that keeps many commits from `git gc`: it names a commit of Garth's own, whose parents they are.
 *
 *	auto_pin p = PIN_INIT;
 *	pin_choose(r, &tips, &held, &p, e);        the few that reach all of the others
 *	pin_commit(r, &p, about, write, oid, e);   the commit that has them for parents
 *	pin_read(r, oid, &commits, e);             its parents again
 *
 * The same commits make the same pin, whoever makes it, so that a ref that is right is not written again.
 */
#ifndef GIT_PIN_H
#define GIT_PIN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

struct pin {
	struct strvec commits; /* sorted */
	struct buf found;      /* of all that are there a line "OID TREE SECONDS" */
};
#define PIN_INIT                                                                                             \
	{                                                                                                    \
		.found = BUF_INIT(16 << 20)                                                                  \
	}
void pin_release(struct pin *p);
#define auto_pin __attribute__((cleanup(pin_release))) struct pin

/* Of the commits in both lists, those that are there and that no other of them reaches. The history of the
 * ones in `held` is not walked: with a task's base there, the question costs as much as the task has commits,
 * and not as much as the project has. */
int pin_choose(const struct repo *r, const struct strvec *tips, const struct strvec *held, struct pin *ret,
	struct err *e);
/* The id of the commit that keeps them; there is at least one. With `write`, the repository gets it. `about`
 * is its message. */
int pin_commit(const struct repo *r, const struct pin *p, const char *about, bool write, char oid[65],
	struct err *e);
/* The commits that one keeps. */
int pin_read(const struct repo *r, const char *oid, struct strvec *ret, struct err *e);

#endif
