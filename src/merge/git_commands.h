/*
 * The git commands that merging uses, one function each. They run in the user's repository with a fixed
 * environment, and in the git directory itself, so that attributes come from the trees and not from a
 * checkout. Commits are named by hexadecimal ids that Garth has read, never by the user's input.
 */
#ifndef MERGE_GIT_COMMANDS_H
#define MERGE_GIT_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"

/* How many commits only a reaches, and how many only b. */
int verb_divergence(
	const struct repo *r, const char *a, const char *b, size_t *only_a, size_t *only_b, struct err *e);
/* Whether a is b or one of its ancestors. */
int verb_is_ancestor(const struct repo *r, const char *a, const char *b, bool *ret, struct err *e);
/* The name of a commit's tree. */
int verb_tree(const struct repo *r, const char *commit, char tree[OID_SIZE], struct err *e);
/* Merges two commits without a checkout. Returns 0 and the tree, 1 and the paths in conflict, or -1. */
int verb_merge_tree(const struct repo *r, const char *ours, const char *theirs, char tree[OID_SIZE],
	struct strvec *conflicts, struct err *e);

/* The paths that tip has changed since it branched off target; a rename counts as both names. */
int verb_own_paths(
	const struct repo *r, const char *target, const char *tip, struct strvec *ret, struct err *e);

/* The user as a committer, with the current time: "Name <mail> SECONDS ZONE", on the heap. */
int verb_committer(const struct repo *r, char **ret, struct err *e);
/* The commits that `tip` has and `old` does not, oldest first, without merges. */
int verb_commits(const struct repo *r, const char *old, const char *tip, struct strvec *ret, struct err *e);
/* Their subjects, in the same order. */
int verb_subjects(const struct repo *r, const char *old, const char *tip, struct strvec *ret, struct err *e);
/* Read the bytes of a commit, and make a commit from such bytes. */
int verb_read_commit(const struct repo *r, const char *oid, struct buf *out, struct err *e);
int verb_write_commit(const struct repo *r, const struct buf *text, char oid[OID_SIZE], struct err *e);

/* A checkout for git; work_tree may be NULL, index is a path. */
struct verb_place {
	const char *git_dir; /* of the checkout */
	const char *work_tree;
	const char *index;
	const struct repo *repo;
};
/* Turns a split index, which refers to another file, into a complete one. */
int verb_unsplit(const struct verb_place *p, struct err *e);
/* Turns a sparse index into a complete one (fold: false), and back. */
int verb_fold(const struct verb_place *p, bool fold, struct err *e);
/* Whether the checkout with this git directory is sparse. */
int verb_is_sparse(const char *git_dir, bool *ret, struct err *e);
/* Marks these paths (NUL-separated, all in the index) as being in the index only. */
int verb_skip(const struct verb_place *p, const struct buf *paths, struct err *e);
/* Beyond this many paths, verb_changed and verb_refresh have git check all files: it would match each file against each
 * path. */
#define VERB_PATHS_MAX 256
/* The paths whose content differs from the index, whatever their stat data says. */
int verb_changed(const struct verb_place *p, const struct strvec *paths, struct strvec *ret, struct err *e);
/* Writes entries "MODE OID\tPATH\0" to the index; mode 0 removes an entry. */
int verb_index_info(const struct verb_place *p, const struct buf *entries, struct err *e);
/* Writes the files of these paths (NUL-separated), none of which may exist. */
int verb_write_files(const struct verb_place *p, const struct buf *paths, struct err *e);
/* Replaces LFS pointers among them by their content (git/lfs.h), if the user's git would: its filter is configured. The
 * paths are appended to `filled`. */
int verb_fill_lfs(const struct verb_place *p, const struct buf *paths, struct strvec *filled, struct err *e);
/* Updates the stat data of n paths (NUL-separated, all in the index) if the files have the content that the
 * index says. */
int verb_refresh(const struct verb_place *p, const struct buf *paths, size_t n, struct err *e);

#endif
