/* A path or glob of a check, from the repository's root. */
#ifndef PLAN_CHECK_PATH_H
#define PLAN_CHECK_PATH_H

/* Puts the directory before it, and takes "." and ".." out. On the heap; NULL if it leads out of the repository. */
char *check_path(const char *dir, const char *path);

#endif
