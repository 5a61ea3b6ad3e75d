/* What is brought into a new task beside its commit: options, progress of the set-up, and what the user is told. */
#ifndef CLI_BROUGHT_H
#define CLI_BROUGHT_H

#include "runtime/bring.h"
#include "task/task.h"

/*
 *	auto_bring b = { .no_setup = … };
 *	brought_begin(&b, &spec, quiet);
 *	task_create(…)
 *	brought_tell(&b, quiet);     after success
 */
void brought_begin(struct bring *b, struct task_spec *spec, bool quiet);
void brought_tell(const struct bring *b, bool quiet);

/* Shows a running set-up; with `loud`, everything that it prints. For struct bring's `tell`. */
setup_fn brought_show, brought_show_all;

#endif
