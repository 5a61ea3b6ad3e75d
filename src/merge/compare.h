/* Opens the repository of a task that is compared with others, without searching for it. */
#ifndef MERGE_COMPARE_H
#define MERGE_COMPARE_H

#include "base/err.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

int compare_open_repo(struct context *c, const struct task *t, struct repo *ret, struct err *e);

#endif
