/* Refs of the user's repository: read, and moved in one transaction. */
#ifndef GIT_REF_H
#define GIT_REF_H

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* What a task is shown: the target branch ("" for none), one ref more (NULL for none), and the tags, as lines
 * "OID REFNAME", sorted. */
int ref_shown(const struct repo *r, const char *target, const char *also, struct buf *out, struct err *e);
/* All refs beneath a prefix, in the same form. */
int ref_list(const struct repo *r, const char *prefix, struct buf *out, struct err *e);
/* Whether a ref of the user's own reaches the commit: one that is not beneath refs/garth/ or
 * refs/heads/garth/. What is no commit, or cannot be asked for, is not reached. */
bool ref_is_reached(const struct repo *r, const char *oid);

/* Whether the object is there for a ref to name. */
bool ref_can_name(const struct repo *r, const char *oid);

/* A transaction: additions in any order, then ref_commit. All of it happens or none of it. A create fails
 * where the ref exists, a remove where it has another value. */
struct ref_txn {
	struct buf text;
	struct strvec held; /* files that go with the transaction; see ref_hold */
};
#define REF_TXN_INIT                                                                                         \
	{                                                                                                    \
		.text = BUF_INIT(64 << 20)                                                                   \
	}

void ref_release(struct ref_txn *t);
#define auto_ref_txn __attribute__((cleanup(ref_release))) struct ref_txn
void ref_create(struct ref_txn *t, const char *name, const char *oid);
/* A file that keeps an object from `git gc` until a ref of the transaction names it. It is removed when the
 * transaction is released, committed or not. */
void ref_hold(struct ref_txn *t, const char *path);
/* Sets a ref whatever it was. */
void ref_set(struct ref_txn *t, const char *name, const char *oid);
/* old may be NULL: whatever it is. */
void ref_remove(struct ref_txn *t, const char *name, const char *old);
/* ERR_EXISTS where a ref that is created is there already. */
int ref_commit(const struct repo *r, struct ref_txn *t, struct err *e);
/* Moves a ref that has the value old; the commit fails where it has another. */
void ref_move(struct ref_txn *t, const char *name, const char *new_oid, const char *old);

/* One `git update-ref --stdin` that stays, for many transactions one after the other. */
struct ref_session;
int ref_session_open(const struct repo *r, struct ref_session **ret, struct err *e);
/* As ref_commit: all or nothing. After a failure the session goes on with a new process. ERR_CONFLICT where a
 * ref has another value than expected. */
int ref_session_commit(struct ref_session *s, const struct ref_txn *t, struct err *e);
void ref_session_close(struct ref_session *s);
/* The value of one ref, hexadecimal; "" where it is not there. Reads the files (loose, then packed-refs)
 * where the repository has files, else asks git. */
int ref_read(const struct repo *r, const char *name, char out[OID_SIZE], struct err *e);

/* A branch as people call it: the name without refs/heads/. */
const char *ref_short(const char *ref);

#endif
