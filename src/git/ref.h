/* Reads the refs of the user's repository, and changes them in transactions. */
#ifndef GIT_REF_H
#define GIT_REF_H

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* The refs that a task sees: the target branch ("" for none), one more ref (NULL for none) and the tags, as
 * lines "OID REFNAME", sorted. */
int ref_shown(const struct repo *r, const char *target, const char *also, struct buf *out, struct err *e);
/* Whether the files show that no ref beneath a prefix, which ends in "/", is in a file of its own. */
bool ref_none_loose(const struct repo *r, const char *prefix);
/* All refs beneath a prefix, in the same form. */
int ref_list(const struct repo *r, const char *prefix, struct buf *out, struct err *e);
/* Whether one of the user's refs reaches the commit: a ref that is not beneath refs/garth/ or
 * refs/heads/garth/. False if it is no commit or if git fails. */
bool ref_is_reached(const struct repo *r, const char *oid);

/* Whether the commit is the user's: one of the user's branches or tags reaches it. A remote's branch may be one to which a
 * task was pushed, so it counts only if no ref of Garth's reaches the commit. */
bool ref_is_users(const struct repo *r, const char *oid);
/* Whether the object exists, so that a ref can name it. */
bool ref_can_name(const struct repo *r, const char *oid);

/* A transaction: add changes in any order, then ref_commit does all of them or none. Creating a ref fails if
 * it exists, removing it fails if it has another value than `old`. */
struct ref_txn {
	struct buf text;
	struct strvec held; /* files that are removed with the transaction; see ref_hold */
	bool whole;         /* signals are put off until it is released */
};
#define REF_TXN_INIT                                                                                         \
	{                                                                                                    \
		.text = BUF_INIT(64 << 20)                                                                   \
	}

void ref_release(struct ref_txn *t);
#define auto_ref_txn __attribute__((cleanup(ref_release))) struct ref_txn
void ref_create(struct ref_txn *t, const char *name, const char *oid);
/* A file that protects an object from `git gc` until a ref names it. ref_release removes it, after success
 * and after failure. */
void ref_hold(struct ref_txn *t, const char *path);
/* Before such a file is made: puts off signals until ref_release, so that no process ends with the file in place. */
void ref_begin_hold(struct ref_txn *t);
/* Sets a ref, whatever its value was. */
void ref_set(struct ref_txn *t, const char *name, const char *oid);
/* old may be NULL: any value. */
void ref_remove(struct ref_txn *t, const char *name, const char *old);
/* ERR_EXISTS if a ref to be created exists. */
int ref_commit(const struct repo *r, struct ref_txn *t, struct err *e);
/* Moves a ref from the value `old`; the transaction fails if it has another value. */
void ref_move(struct ref_txn *t, const char *name, const char *new_oid, const char *old);

/*
 * git writes refs, and what it logs of them, through symbolic links. A downloaded repository could change any of
 * the user's files that way, and a line of a log may hold a command. So no ref is written if a link is on
 * the way to its file, its log or packed-refs: ERR_REFUSED. ref_commit and ref_session_commit check it themselves.
 */
int ref_check_place(const char *git_dir, const char *name, struct err *e);
int ref_check_places(const struct repo *r, const struct ref_txn *t, struct err *e);

/* A running `git update-ref --stdin` for many transactions, one after the other. */
struct ref_session;
int ref_session_open(const struct repo *r, struct ref_session **ret, struct err *e);
/* Like ref_commit. After a failure the session continues with a new process. ERR_CONFLICT if a ref has
 * another value than expected. */
int ref_session_commit(struct ref_session *s, const struct ref_txn *t, struct err *e);
void ref_session_close(struct ref_session *s);
/* The value of one ref; "" if it does not exist. Reads the files (the loose ref, then packed-refs) if the
 * repository stores refs in files, else asks git. */
int ref_read(const struct repo *r, const char *name, char out[OID_SIZE], struct err *e);

/* A branch's short name: without refs/heads/. */
const char *ref_short(const char *ref);

#endif
