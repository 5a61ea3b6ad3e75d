/* What every command on tasks needs: the Garth home, the configuration, the store, and who the user is. */
#ifndef TASK_CONTEXT_H
#define TASK_CONTEXT_H

#include "base/err.h"
#include "config/config.h"
#include "store/store.h"
#include "workspace/home.h"

struct context {
	char *user;      /* the user's name */
	char *user_home; /* real path */
	char *shell;
	struct home home;
	bool looks; /* nothing is changed: opened to look */
	struct config config;
	struct store *store; /* opened by context_store; closed before a keeper is forked */
};

/* ERR_REFUSED where the Garth home is a copy of another: what it could change in the repositories is the
 * other's. */
int context_open(struct context *c, struct err *e);
/* The same for commands that only look, which a copy allows. */
int context_open_to_look(struct context *c, struct err *e);
void context_close(struct context *c);
#define auto_context __attribute__((cleanup(context_close))) struct context

/* Opens the store if it is not open. SQLite does not survive a fork: context_close_store comes before one. */
int context_store(struct context *c, struct err *e);
void context_close_store(struct context *c);

#endif
