/*
 * Brings files into new tasks that git does not have: included files of the user's checkout
 * (workspace/include.h) and the set-up layer (setup.h). A front end sets
 *
 *	struct add_layers b = { .no_setup = …, .tell = …, .tell_arg = … };
 *	spec.add_layers = runtime_add_layers; spec.add_layers_arg = &b;
 *
 * before task_create, and shows what b then says of it. It blocks until the set-up command has ended, if that
 * has to run.
 */
#ifndef RUNTIME_ADD_LAYERS_H
#define RUNTIME_ADD_LAYERS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/task.h"
#include "workspace/include.h"

/* What a set-up that runs tells: its output, and when it starts and ends. */
enum setup_event { SETUP_WAITS, SETUP_STARTS, SETUP_PRINTS, SETUP_ENDED };
typedef void setup_fn(enum setup_event what, const char *text, size_t len, void *arg);

struct add_layers {
	bool no_setup;     /* the task starts without the set-up layer */
	bool offline;      /* what runs for a commit that is not the user's has no network */
	bool with_changes; /* the checkout's uncommitted changes come too, so they are not included */
	setup_fn *tell;    /* may be NULL */
	void *tell_arg;
	/* results: */
	struct include_report included;
	struct strvec warnings;
};
void add_layers_release(struct add_layers *b);
#define auto_add_layers __attribute__((cleanup(add_layers_release))) struct add_layers

/* Absolute paths that a task gets no files of, even if they are in the checkout: the Garth home, and the places of keys and
 * log-ins. */
void add_layers_never(const struct context *c, struct strvec *ret);

int runtime_add_layers(struct context *c, const struct repo *r, const struct task *t, struct task_layers *ret,
	void *arg, struct err *e);

#endif
