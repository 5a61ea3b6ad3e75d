/*
 * The checkouts of submodules that move together with the checkout of their superproject: the files, the index and
 * HEAD of each go from the commit that the superproject named before to the one that it names after the move. Nested
 * ones too. "Both or neither": the superproject's branch moves last, and until then everything can be taken back.
 *
 *	followers_find      fills in j->links (journal.h): what each submodule does. Refuses, by name, if one is not as the
 *	                superproject left it
 *	followers_open      the ones that move
 *	followers_check     the steps of update.h, for each of them
 *	followers_stage
 *	followers_hold      locks HEAD, or the branch that is checked out
 *	followers_swap      puts files and indexes in place
 *	followers_commit    moves HEAD, or the branch; faults merge-submodule (after each) and merge-submodules (after all)
 *	followers_revert    undoes all of it after a failure; after a crash, with followers_open alone
 *	followers_release
 *
 * Where HEAD of a submodule may be:
 *
 *	detached at the old commit                   it is detached at the new one afterwards
 *	on a branch that is at the old commit        that branch moves; forward only, unless a merge is undone
 *	at the new commit, or one that has it        it stays, and so do the files
 *	anywhere else                                ERR_CONFLICT
 *
 * If a merge is undone, a submodule that stayed stays again; one that moved must be where the merge left it.
 */
#ifndef MERGE_FOLLOWERS_H
#define MERGE_FOLLOWERS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/branch_checkout.h"
#include "merge/journal.h"
#include "merge/links.h"
#include "merge/ref_lock.h"
#include "merge/update.h"

struct follower {
	const struct journal_link *link;
	struct branch_checkout place;
	struct repo repo;
	struct update update;
	struct ref_lock *hold;
};

struct followers {
	struct follower *v;
	size_t n;
	const char *reason; /* for the reflogs */
};

/* `moved` are the links of the superproject, p is its checkout (p->top is NULL if there is none). */
int followers_find(const struct repo *r, const struct branch_checkout *p, const struct links *moved,
	struct journal *j, struct err *e);

/* The followers use j's memory, and must not be moved. One that no longer exists is left out. */
void followers_open(const struct journal *j, const char *reason, struct followers *ret);
void followers_release(struct followers *p);
#define auto_followers __attribute__((cleanup(followers_release))) struct followers

/* As update_check. Paths that are in the way begin at the top of the superproject; *where is the checkout that has
 * them, on the heap. */
int followers_check(struct followers *p, struct strvec *in_the_way, char **where, struct err *e);
int followers_stage(struct followers *p, struct err *e);
int followers_hold(struct followers *p, struct err *e);
int followers_swap(struct followers *p, struct strvec *in_the_way, char **where, struct err *e);
int followers_commit(struct followers *p, struct err *e);
/* What the user has changed meanwhile stays, and is listed in `left`. False if HEAD of one could not be moved back
 * for another reason: then it has to be tried again. */
bool followers_revert(struct followers *p, struct strvec *left);

/* HEAD of a checkout: the branch, "" if it is detached, and the commit, "" if there is none yet. */
int follower_head(const struct branch_checkout *p, const struct repo *r, char **ret_branch,
	char commit[OID_SIZE], struct err *e);

#endif
