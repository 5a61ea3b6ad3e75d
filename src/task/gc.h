/* Housekeeping of the Garth home (T6, T7): removes what is no longer needed, and measures the rest. */
#ifndef TASK_GC_H
#define TASK_GC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "task/context.h"

/* Above this, garth warns. */
#define GC_WARN_BYTES (10ull << 30)

struct gc_disk {
	uint64_t bases, layers, tasks, worktrees, trash, archives;
};

struct gc_report {
	size_t trash;     /* discarded tasks that were removed for good */
	size_t archived;  /* tasks that were packed now because a crash had prevented it */
	size_t leftovers; /* quarantines of gateways that were killed */
	uint64_t freed;   /* bytes */
	struct gc_disk disk;
};

/* gc_total is the sum of what gc_disk has measured. */
uint64_t gc_total(const struct gc_disk *d);
int gc_disk(struct context *c, struct gc_disk *ret, struct err *e);
/* Removes trash that is old enough (all_trash: of any age), bases and layers that no task uses (the
 * newest of a project stay, to speed up the next task), and leftovers. Does not touch existing tasks. */
int gc(struct context *c, bool all_trash, struct gc_report *ret, struct err *e);

#endif
