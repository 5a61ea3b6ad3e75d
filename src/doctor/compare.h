/* The files of a base against what was checked out, by content: what differs, for people. */
#ifndef DOCTOR_COMPARE_H
#define DOCTOR_COMPARE_H

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"
#include "workspace/base.h"

/* tree is the base's topmost layer, opened. *what stays empty where nothing differs. */
int compare_base(const struct repo *r, const struct base *b, int tree, struct buf *what, struct err *e);

#endif
