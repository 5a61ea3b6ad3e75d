/* Paths as text. Nothing here asks the file system. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

/* dir + "/" + name on the heap; no second slash where dir ends in one. */
char *path_join(const char *dir, const char *name);
/* The part behind the last slash. */
const char *path_base(const char *path);
/* Whether path is dir or lies beneath it, compared by whole components: /t-1 is not above /t-10. */
bool path_within(const char *path, const char *dir);
/* Whether an absolute path has no empty, "." or ".." component and no slash at its end. */
bool path_is_clean(const char *path);

#endif
