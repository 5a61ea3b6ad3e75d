/* The user's editor, chosen and run as git does it, but without what a repository's configuration says. */
#ifndef CLI_EDITOR_H
#define CLI_EDITOR_H

#include "base/err.h"

/* $GIT_EDITOR, core.editor of the user's configuration, $VISUAL, $EDITOR; on a terminal also `editor` or `vi`. On
 * the heap; NULL if there is none. */
char *editor_find(void);
/* Edits the file and blocks until the editor ends. ERR_FAILED if it cannot be started or fails. Ctrl-C during that
 * time is for the editor. */
int editor_run(const char *editor, const char *path, struct err *e);

#endif
