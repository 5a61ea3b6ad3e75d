/* Which files of a diff are folded: only a line about them is shown to a reviewer. */
#ifndef FEEDBACK_FOLD_H
#define FEEDBACK_FOLD_H

#include "feedback/patch.h"

/* A file is folded if its diff has more lines than FOLD_FILE_LINES, or if all files shown so far have FOLD_ALL_LINES
 * together with it. */
#define FOLD_FILE_LINES 1500
#define FOLD_ALL_LINES  40000

/* Why a file is folded: "binary", "lock file", "generated", "long"; NULL if it is shown. *shown is the number
 * of lines shown so far, and is added to. */
const char *fold_why(const struct patch_file *f, size_t *shown);

#endif
