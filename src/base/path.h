/* Paths as text. Nothing here uses the file system. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

/* dir + "/" + name; the caller frees it. If dir ends in a slash, no second one is added. */
char *path_join(const char *dir, const char *name);
/* The part after the last slash. */
const char *path_base(const char *path);
/* Whether path is dir or is beneath it, compared by whole components: /t-10 is not within /t-1. */
bool path_within(const char *path, const char *dir);
/* Whether an absolute path has no empty, "." or ".." component and no slash at its end. */
bool path_is_clean(const char *path);

#endif
