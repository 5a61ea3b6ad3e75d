/*
 * Translates between the editor's paths and the agent's. The editor works in the user's checkout; the agent has a
 * workspace, which may be at another path. Paths are compared as text, after "." and ".." are resolved. Only the editor's
 * paths are also looked up on the disk, because it may name the checkout through a link.
 */
#ifndef ACP_PATHS_H
#define ACP_PATHS_H

#include <stdbool.h>

#include "base/err.h"

struct paths {
	char *top;       /* the checkout that the editor works in */
	char *main_top;  /* the project's main checkout; it may be the same */
	char *workspace; /* inside */
};
void paths_release(struct paths *p);

/* The path inside for a path that the editor gave, on the heap. NULL if that is not absolute, or not in the project. */
char *paths_inside(const struct paths *p, const char *path);
/* The same for a URI with the scheme file. What follows its path is not changed. */
char *paths_uri_inside(const struct paths *p, const char *uri);
/* Whether it is a URI with the scheme file, or a plain path. Other URIs do not lead to files. */
bool paths_uri_is_file(const char *uri);
/* Whether a path that the agent gave is in its workspace. */
bool paths_is_inside(const struct paths *p, const char *path);

#endif
