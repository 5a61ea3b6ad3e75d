/*
 * What merging asks of git, one function per verb, all in the user's repository with the fixed environment.
 * They run in the git directory itself, so that attributes come from the trees and from no checkout.
 * Names of commits are hexadecimal ids that Garth has read itself, never a user's words.
 */
#ifndef MERGE_VERBS_H
#define MERGE_VERBS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* How many commits only a and only b reach. */
int verb_divergence(
	const struct repo *r, const char *a, const char *b, size_t *only_a, size_t *only_b, struct err *e);
/* Whether a is b or among its ancestors. */
int verb_is_ancestor(const struct repo *r, const char *a, const char *b, bool *ret, struct err *e);
/* Merges two commits without a checkout: 0 and the tree; 1 and the paths in conflict; -1. */
int verb_merge_tree(const struct repo *r, const char *ours, const char *theirs, char tree[OID_SIZE],
	struct strvec *conflicts, struct err *e);

/* The paths that tip changes since it left target; a rename counts as both of its names. */
int verb_own_paths(
	const struct repo *r, const char *target, const char *tip, struct strvec *ret, struct err *e);

/* The user as a committer, now: "Name <mail> SECONDS ZONE", on the heap. */
int verb_committer(const struct repo *r, char **ret, struct err *e);
/* The commits that `tip` has and `old` has not, oldest first, without merges. */
int verb_commits(const struct repo *r, const char *old, const char *tip, struct strvec *ret, struct err *e);
/* Their subjects, in the same order. */
int verb_subjects(const struct repo *r, const char *old, const char *tip, struct strvec *ret, struct err *e);
/* A commit's bytes, and an object made of such bytes. */
int verb_read_commit(const struct repo *r, const char *oid, struct buf *out, struct err *e);
int verb_write_commit(const struct repo *r, const struct buf *text, char oid[OID_SIZE], struct err *e);

/* A checkout's files as git sees them: work_tree may be NULL, index is a path. */
struct verb_place {
	const char *git_dir; /* the checkout's own */
	const char *work_tree;
	const char *index;
	const struct repo *repo;
};
/* An index that refers to another file becomes whole. */
int verb_unsplit(const struct verb_place *p, struct err *e);
/* Which of the paths differ in content from the index, whatever their stat data says. */
int verb_changed(const struct verb_place *p, const struct strvec *paths, struct strvec *ret, struct err *e);
/* Entries "MODE OID\tPATH\0" into the index; mode 0 takes one out. */
int verb_index_info(const struct verb_place *p, const struct buf *entries, struct err *e);
/* Writes the files of paths (NUL-separated) out, where none are. */
int verb_write_files(const struct verb_place *p, const struct buf *paths, struct err *e);
/* Brings the stat data of paths (NUL-separated, n of them, all in the index) up to date where the files have
 * the content that the index says. */
int verb_refresh(const struct verb_place *p, const struct buf *paths, size_t n, struct err *e);

#endif
