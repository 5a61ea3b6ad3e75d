/* What is brought into a new task beside its commit: options, progress of the set-up, and what the user is told. */
#ifndef CLI_ADDED_LAYERS_H
#define CLI_ADDED_LAYERS_H

#include "runtime/add_layers.h"
#include "task/task.h"

/*
 *	auto_add_layers b = { .no_setup = … };
 *	added_layers_begin(&b, &spec, quiet);
 *	task_create(…)
 *	added_layers_tell(&b, quiet);     after success
 */
void added_layers_begin(struct add_layers *b, struct task_spec *spec, bool quiet);
void added_layers_tell(const struct add_layers *b, bool quiet);

/* Shows a running set-up; with `loud`, everything that it prints. For struct add_layers's `tell`. */
setup_fn added_layers_show, added_layers_show_all;

#endif
