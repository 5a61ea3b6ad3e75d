/*
 * The set-up layer (W7): runs workspace.setup once and makes what it leaves a layer (workspace/layer.h) that
 * every task on the same inputs shares.
 *
 * The commands run in a task of their own, with its walls, limits and home, and with the network that
 * workspace.setup_network names. That task is removed afterwards. What it leaves is as hostile as an agent's
 * work: only files, directories and links that the commit does not track are taken.
 *
 * The layer's name is a hash of the commands and of the tracked files that match workspace.setup_inputs, so a
 * later commit with the same inputs uses the same layer, unless it tracks a path that the layer has.
 */
#ifndef RUNTIME_SETUP_H
#define RUNTIME_SETUP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "runtime/add_layers.h"
#include "task/context.h"
#include "task/project_cache.h"
#include "task/task.h"

struct setup_result {
	char *name;   /* the layer's; NULL if the configuration has no set-up */
	int lock;     /* the layer's lock: nobody removes it while it is held */
	bool made;    /* the commands ran now */
	size_t files; /* if they ran: what the layer has */
	uint64_t bytes;
	struct strvec changed;     /* tracked files that they changed or removed: tasks do not see that */
	struct strvec left_out;    /* what cannot be in a layer: sockets, devices, repositories */
	struct strvec not_ignored; /* what git does not ignore: tasks can commit it */
	struct project_cache_added cached; /* what was added to the project's cache */
	char *not_cached;                  /* why that failed, for people; NULL */
};
void setup_result_release(struct setup_result *r);
#define auto_setup_result __attribute__((cleanup(setup_result_release))) struct setup_result

enum setup_how {
	SETUP_AGAIN = 1, /* the commands run even if the layer exists and no task uses it */
	SETUP_OFFLINE =
		2, /* they have no network, if the commit is not the user's: it decides what they do */
};

/* Finds the layer for r->commit, or makes it; `like` is the task, or has its project and backend; `how` is a set of enum
 * setup_how. ERR_START if the commands fail: their output is in the layer's log, and nothing else is left. Blocks while they
 * run, here or in another process. */
int runtime_setup(struct context *c, const struct repo *r, const struct task *like, unsigned how,
	setup_fn *tell, void *tell_arg, struct setup_result *ret, struct err *e);

/* The path of the log of a layer, or of the last failed attempt to make it; on the heap. */
char *setup_log(const struct context *c, int64_t project, const char *name, bool failed);

/* Adds warnings about what it left. */
void add_layers_warn_setup(struct add_layers *b, const struct setup_result *s);

#endif
