/* Housekeeping of the Garth home (T6, T7): what nobody needs any more goes, and what is there is counted. */
#ifndef TASK_GC_H
#define TASK_GC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "task/context.h"

/* Above this, people are told. */
#define GC_WARN_BYTES (10ull << 30)

struct gc_disk {
	uint64_t bases, tasks, worktrees, trash, archives;
};

struct gc_report {
	size_t trash;     /* discarded tasks that are gone for good now */
	size_t archived;  /* tasks that a crash had kept from being packed */
	size_t leftovers; /* quarantines of gateways that were killed */
	uint64_t freed;   /* bytes */
	struct gc_disk disk;
};

/* All of it together. */
uint64_t gc_total(const struct gc_disk *d);
int gc_disk(struct context *c, struct gc_disk *ret, struct err *e);
/* Trash whose term is over (all: whatever its age), bases that no task stands on (the newest of a project
 * stays warm), leftovers. Nothing of a task that is there is touched. */
int gc(struct context *c, bool all_trash, struct gc_report *ret, struct err *e);

#endif
