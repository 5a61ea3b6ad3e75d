/*
 * Where things of the project are for an editor, and where for the agent. The editor knows the user's checkout; the agent
 * has a workspace, which may be at another path. Paths are compared as text, after "." and ".." are resolved; only what
 * the editor says is looked up on the disk too, since it may name the checkout through a link.
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

/* The path inside of a path that the editor gave, on the heap. NULL if it is not absolute, or not in the project. */
char *paths_inside(const struct paths *p, const char *path);
/* The same for a URI with the scheme file. Behind its path it stays as it is. */
char *paths_uri_inside(const struct paths *p, const char *uri);
/* Whether it is a URI with the scheme file, or a path instead of one: others lead to no file. */
bool paths_uri_is_file(const char *uri);
/* Whether a path that the agent gave is in its workspace. */
bool paths_is_inside(const struct paths *p, const char *path);

#endif
