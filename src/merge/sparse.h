/*
 * Sparse checkouts: git keeps the entries of some files in the index only (skip-worktree). An update changes these
 * entries and writes no file for them. Whether an added path gets a file is decided by the checkout's patterns in cone
 * mode. Other patterns are not matched here: the new file does as the files do that are in its directory, or in the
 * nearest one above that has any. Either way git finds nothing changed afterwards.
 */
#ifndef MERGE_SPARSE_H
#define MERGE_SPARSE_H

#include "base/buf.h"
#include "base/err.h"
#include "merge/update.h"

/* Marks the edits that change the index only. `index` is the content of a complete index. */
int sparse_mark(struct update *u, const struct buf *index, struct err *e);

/* Whether the index has entries for whole directories (a sparse index). */
bool sparse_is_folded(const struct buf *index);

/* The directories of cone mode. */
struct cone {
	struct strvec whole;  /* with everything beneath */
	struct strvec parent; /* only the files directly in them */
};
void cone_release(struct cone *c);
/* Reads the text of info/sparse-checkout. False if it is not in cone mode. */
bool cone_parse(char *text, struct cone *ret);
bool cone_has(const struct cone *c, const char *path);

#endif
