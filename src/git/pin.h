/*
 * One ref that keeps many commits from `git gc`: it names a commit of Garth's own, whose parents they are.
 *
 *	auto_pin p = PIN_INIT;
 *	pin_choose(r, &tips, &held, &p, e);        the few that reach all of the others
 *	pin_name(r, &p, about, oid, e);            the commit that has them for parents
 *	pin_write(r, &p, about, txn, e);           made, and held until the transaction sets the ref
 *	pin_read(r, oid, &commits, e);             its parents again
 *
 * The same commits make the same pin, whoever makes it, so that a ref that is right is not written again.
 */
#ifndef GIT_PIN_H
#define GIT_PIN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/ref.h"
#include "git/repo.h"

struct pin {
	struct strvec commits; /* sorted */
	struct buf found;      /* of all that are there a line "OID TREE SECONDS" */
};
/* What the .keep file of a pin's pack says, until a ref names the pin. */
#define PIN_KEEP "garth"

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
/* The id of the commit that keeps them; there is at least one. `about` is its message. */
int pin_name(const struct repo *r, const struct pin *p, const char *about, char oid[OID_SIZE], struct err *e);
/* Writes it into the repository. A `git gc --prune=now` of the user's that began before its ref is there
 * would take a new object away, and leave a broken ref: so it comes in a pack with a .keep file, which the
 * transaction holds until it has set the ref. */
int pin_write(
	const struct repo *r, const struct pin *p, const char *about, struct ref_txn *txn, struct err *e);
/* The commits that one keeps. */
int pin_read(const struct repo *r, const char *oid, struct strvec *ret, struct err *e);

#endif
