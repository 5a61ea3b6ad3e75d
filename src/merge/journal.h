/*
 * What a merge is about to do, written down before it does anything: $GARTH_HOME/merges/<project>.json. The
 * lock beside it serializes a project's merges, so there is one at the most; one that is there while nobody
 * holds the lock was left by a crash.
 */
#ifndef MERGE_JOURNAL_H
#define MERGE_JOURNAL_H

#include <stdint.h>

#include "base/err.h"
#include "workspace/home.h"

struct journal {
	int64_t project, task;
	int64_t deed;    /* the one that is taken back; 0: a merge */
	char *name;      /* the task's, for people */
	char *target;    /* full name of the branch */
	char *from, *to; /* commits */
	char *tip;       /* of the task's branch, as it is merged; "" where a merge is taken back */
	char *kind;      /* "merge", "squash", "rebase" */
	char *top;       /* the checkout, "" for none */
	char *admin;     /* its git directory */
	char *state;     /* the task's before the merge */
};

void journal_release(struct journal *j);
#define auto_journal __attribute__((cleanup(journal_release))) struct journal

/* Waits for the project's turn; for an auto_lock. */
int journal_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);
int journal_write(const struct home *h, const struct journal *j, struct err *e);
/* ERR_NOTFOUND where there is none. */
int journal_read(const struct home *h, int64_t project, struct journal *ret, struct err *e);
void journal_remove(const struct home *h, int64_t project);
/* The projects that have one: *ret is on the heap, NULL for none. */
int journal_list(const struct home *h, int64_t **ret, size_t *n, struct err *e);

#endif
