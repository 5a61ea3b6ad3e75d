/* The name of a set-up layer: everything that decides about its content. */
#ifndef RUNTIME_SETUP_KEY_H
#define RUNTIME_SETUP_KEY_H

#include <stdbool.h>

#include "base/err.h"
#include "config/config.h"
#include "git/repo.h"

/* *ret is on the heap. With `own`, the commit itself decides too. */
int setup_key(const struct config *c, const struct repo *r, bool own, char **ret, struct err *e);

#endif
