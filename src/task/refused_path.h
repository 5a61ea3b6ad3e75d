/*
 * The path for which a task's last publish was refused, if that is one that the user can allow (`garth allow`): a file in the
 * task's directory. A publish that succeeds, and the next run, remove it.
 */
#ifndef TASK_REFUSED_PATH_H
#define TASK_REFUSED_PATH_H

#include <stdbool.h>

/* Codes of refusals that the user can lift. */
#define REFUSED_PROTECTED "protected_path"
#define REFUSED_SCOPE     "outside_scope"

/* Remembers it, if the code is one of these. What cannot be written is not known later: no failure. */
void refused_path_note(int task_dir, const char *code, const char *path);
void refused_path_forget(int task_dir);
/* The path, on the heap, in the agent's bytes; NULL if there is none. */
char *refused_path_load(int task_dir);

#endif
