/* Compares the files of a base with the commit that was checked out, by content. */
#ifndef DOCTOR_COMPARE_BASE_H
#define DOCTOR_COMPARE_BASE_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"
#include "workspace/base.h"

/* tree is a descriptor of the base's topmost layer. *what gets a description for people; empty if nothing
 * differs. */
int compare_base(const struct repo *r, const struct base *b, int tree, struct buf *what, struct err *e);
/* The same for the base of a submodule, whose files are at `path`; r is the submodule's repository. */
int compare_submodule_base(const struct repo *r, const struct base *b, const char *path, int tree,
	struct buf *what, struct err *e);

#endif
