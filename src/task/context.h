/* What every command on tasks needs: the Garth home, the configuration, the store, and who the user is. Open
 * it first; context_close frees everything. */
#ifndef TASK_CONTEXT_H
#define TASK_CONTEXT_H

#include "base/err.h"
#include "config/config.h"
#include "store/store.h"
#include "workspace/home.h"

struct context {
	char *user;      /* the user's name */
	char *user_home; /* without links */
	char *shell;
	struct home home;
	bool looks; /* read-only: the command changes nothing */
	struct config config;
	int64_t configured;  /* the task whose layers config has (runtime_configure); 0: none */
	struct store *store; /* opened by context_store; must be closed before a keeper is forked */
};

/* ERR_REFUSED if the Garth home is a copy of another one, since the branches and refs in its store belong to
 * the other. */
int context_open(struct context *c, struct err *e);
/* The same for commands that only read; these work in a copy too. */
int context_open_to_look(struct context *c, struct err *e);
void context_close(struct context *c);
#define auto_context __attribute__((cleanup(context_close))) struct context

/* Opens the store unless it is open. An SQLite connection must not be used after a fork: call
 * context_close_store before one. */
int context_store(struct context *c, struct err *e);
void context_close_store(struct context *c);

#endif
