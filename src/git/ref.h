/* Refs of the user's repository: read, and moved in one transaction. */
#ifndef GIT_REF_H
#define GIT_REF_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"

/* What a task is shown: the target branch ("" for none) and the tags, as lines "OID REFNAME", sorted. */
int ref_shown(const struct repo *r, const char *target, struct buf *out, struct err *e);
/* All refs beneath a prefix, in the same form. */
int ref_list(const struct repo *r, const char *prefix, struct buf *out, struct err *e);

/* Whether the object is there for a ref to name. */
bool ref_can_name(const struct repo *r, const char *oid);

/* A transaction: additions in any order, then ref_commit. All of it happens or none of it. A create fails
 * where the ref exists, a remove where it has another value. */
struct ref_txn {
	struct buf text;
};
#define REF_TXN_INIT                                                                                         \
	{                                                                                                    \
		.text = BUF_INIT(64 << 20)                                                                   \
	}

void ref_release(struct ref_txn *t);
#define auto_ref_txn __attribute__((cleanup(ref_release))) struct ref_txn
void ref_create(struct ref_txn *t, const char *name, const char *oid);
/* Sets a ref whatever it was. */
void ref_set(struct ref_txn *t, const char *name, const char *oid);
/* old may be NULL: whatever it is. */
void ref_remove(struct ref_txn *t, const char *name, const char *old);
int ref_commit(const struct repo *r, struct ref_txn *t, struct err *e);

#endif
