/*
 * Finds files of a repository that git would wait for: a FIFO or a device in place of HEAD, the index, a ref or another
 * file that git opens. A repository that somebody else made may have such files, and git waits for as long as nobody
 * writes to them. A link to a place that is not always the same (named_path.h) is found as well. This reads directories only. Loose objects and Garth's own refs are too many for every command (each task
 * has a directory of refs): they are looked at when a repository is used for the first time. Later, a git that
 * waits for one is ended (sys/fifo_wait.h).
 */
#ifndef GIT_BLOCKING_FILES_H
#define GIT_BLOCKING_FILES_H

#include "base/err.h"

/* ERR_REFUSED, with the path, if there is such a file in a git directory, which may be that of a linked worktree. */
int blocking_files_refuse(const char *git_dir, struct err *e);
/* The same for an object store. */
int blocking_files_refuse_objects(const char *objects, struct err *e);
/* Garth's refs, and loose objects. */
int blocking_files_refuse_many(const char *git_dir, struct err *e);
int blocking_files_refuse_loose(const char *objects, struct err *e);
/* The same for the .gitattributes of a checkout, in each directory above the path: git reads them for it. `top` is the
 * checkout's, named `place`. */
int blocking_files_refuse_attributes(int top, const char *place, const char *path, struct err *e);
/* The same for a task's private repository, which the agent writes: all below the descriptor, with loose objects, and
 * without following a link. A link is refused if it does not lead to a regular file in the repository. *ret_path is
 * the path from the repository's directory, on the heap, or NULL. A repository with very many files is looked at in
 * part: git inside has a time limit, too. */
int blocking_files_refuse_private(int git_dir, char **ret_path, struct err *e);

#endif
