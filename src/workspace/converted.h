/*
 * Finds out which of a scan's changed files git would convert for a commit: text with other line ends, $Id$, another
 * encoding. The attributes are those that the workspace has now, as for git inside. Call it after ignored_mark.
 */
#ifndef WORKSPACE_CONVERTED_H
#define WORKSPACE_CONVERTED_H

#include "base/err.h"
#include "git/scratch.h"
#include "workspace/scan.h"

/* Sets `form` in each change. If git cannot tell in time, the files are compared as they are. */
int converted_mark(struct scratch *s, const char *since, struct changes *c, struct err *e);

#endif
