/*
 * Records what a merge is about to do, before it does anything, in $GARTH_HOME/merges/<project>.json. The
 * lock beside it allows one merge at a time in a project, so there is at most one journal. If there is a
 * journal and nobody holds the lock, a crash left it.
 */
#ifndef MERGE_JOURNAL_H
#define MERGE_JOURNAL_H

#include <stdint.h>

#include "base/err.h"
#include "workspace/home.h"

struct journal {
	int64_t project, task;
	int64_t deed;    /* the deed that is undone; 0: this is a merge */
	char *name;      /* the task's name, for messages */
	char *target;    /* the branch's full name */
	char *from, *to; /* commits */
	char *tip;       /* the merged tip of the task's branch; "" if a merge is undone */
	char *kind;      /* "merge", "squash", "rebase" */
	char *top;       /* the checkout; "" if there is none */
	char *admin;     /* its git directory */
	char *state;     /* the task's state before the merge */
};

void journal_release(struct journal *j);
#define auto_journal __attribute__((cleanup(journal_release))) struct journal

/* Waits until it is this process' turn; for an auto_lock. */
int journal_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);
int journal_write(const struct home *h, const struct journal *j, struct err *e);
/* ERR_NOTFOUND if there is none. */
int journal_read(const struct home *h, int64_t project, struct journal *ret, struct err *e);
void journal_remove(const struct home *h, int64_t project);
/* The projects that have a journal: *ret is on the heap, NULL if there are none. */
int journal_list(const struct home *h, int64_t **ret, size_t *n, struct err *e);

#endif
