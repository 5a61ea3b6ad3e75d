/*
 * Records what a merge is about to do, before it does anything, in $GARTH_HOME/merges/<project>.json. The
 * lock beside it allows one merge at a time in a project, so there is at most one journal. If there is a
 * journal and nobody holds the lock, a crash left it.
 */
#ifndef MERGE_JOURNAL_H
#define MERGE_JOURNAL_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "workspace/home.h"

/* A submodule that the move gives another commit. */
struct journal_link {
	char *path;      /* from the top of the superproject */
	char *from, *to; /* commits */
	/* What its checkout does: "moved" with the superproject, "ahead" has the new commit already, "none": there is none. */
	char *how;
	/* If it moves: the branch that moves, "" if HEAD is detached; the checkout, its git directory (HEAD,
	 * index) and the repository. */
	char *head, *top, *admin, *git_dir;
};
struct journal_links {
	struct journal_link *v;
	size_t n;
};

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
	struct journal_links links;
	struct journal_links was; /* if a merge is undone: what it did. Not written. */
};

void journal_release(struct journal *j);
#define auto_journal __attribute__((cleanup(journal_release))) struct journal

/* Waits until it is this process' turn; for an auto_lock. */
int journal_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e);
int journal_write(const struct home *h, const struct journal *j, struct err *e);
/* ERR_NOTFOUND if there is none. */
int journal_read(const struct home *h, int64_t project, struct journal *ret, struct err *e);
void journal_remove(const struct home *h, int64_t project);
void journal_links_release(struct journal_links *l);
/* An empty link, all of whose strings are "". */
struct journal_link *journal_add_link(struct journal_links *l);
/* As JSON, for the journal and the deed. */
json_t *journal_links_pack(const struct journal_links *l);
void journal_links_unpack(const json_t *list, struct journal_links *ret);
/* A path need not be UTF-8, but JSON must be: other bytes become %XX. */
json_t *journal_pack(const char *s);
/* The text of a member of an object, "" if there is none; on the heap. */
char *journal_unpack(const json_t *o, const char *key);

/* The projects that have a journal: *ret is on the heap, NULL if there are none. */
int journal_list(const struct home *h, int64_t **ret, size_t *n, struct err *e);

#endif
