/*
 * One ref that protects many commits from `git gc`. It names a commit that Garth makes and that has them as
 * its parents: the pin.
 *
 *	auto_pin p = PIN_INIT;
 *	pin_choose(r, &tips, &held, &p, e);        the few commits that reach all others
 *	pin_name(r, &p, about, oid, e);            the id of the pin
 *	pin_write(r, &p, about, txn, e);           writes the pin, and protects it until the transaction ends
 *	pin_read(r, oid, &commits, e);             its parents again
 *
 * The same commits always make the same pin, so a ref that is right is not written again.
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
	struct buf found;      /* for each commit that exists a line "OID TREE SECONDS" */
};
/* What the .keep file of a pin's pack says, until a ref names the pin. */
#define PIN_KEEP "garth"

#define PIN_INIT                                                                                             \
	{                                                                                                    \
		.found = BUF_INIT(16 << 20)                                                                  \
	}
void pin_release(struct pin *p);
#define auto_pin __attribute__((cleanup(pin_release))) struct pin

/* Of the commits in both lists, those that exist and that no other of them reaches. The history of those in
 * `held` is not walked. If a task's base is in there, the cost depends on the task's commits and not on the
 * project's. */
int pin_choose(const struct repo *r, const struct strvec *tips, const struct strvec *held, struct pin *ret,
	struct err *e);
/* The id of the pin for these commits, of which there is at least one. `about` is its message. */
int pin_name(const struct repo *r, const struct pin *p, const char *about, char oid[OID_SIZE], struct err *e);
/* Writes the pin into the repository. If a `git gc --prune=now` began before the ref exists, it would delete
 * the new object and leave a broken ref. So the pin is written as a pack with a .keep file, which stays until
 * the transaction has set the ref. */
int pin_write(
	const struct repo *r, const struct pin *p, const char *about, struct ref_txn *txn, struct err *e);
/* The commits that a pin protects. */
int pin_read(const struct repo *r, const char *oid, struct strvec *ret, struct err *e);

#endif
