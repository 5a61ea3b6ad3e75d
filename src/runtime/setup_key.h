/* The name of a set-up layer: everything that decides about its content. */
#ifndef RUNTIME_SETUP_KEY_H
#define RUNTIME_SETUP_KEY_H

#include <stdbool.h>

#include "base/err.h"
#include "git/repo.h"
#include "task/context.h"
#include "workspace/layer.h"

/* *ret is on the heap. With `own`, the commit itself decides too. git is asked once for each commit; the store
 * remembers. */
int setup_key(struct context *c, const struct repo *r, bool own, char **ret, struct err *e);

/* Whether the commit tracks no path of this layer. Remembered too. */
int setup_fits(struct context *c, const struct repo *r, const struct layer *l, bool *ret, struct err *e);

#endif
