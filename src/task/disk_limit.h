/*
 * Computes how much a task may hold on disk in all: its files (ignored ones and caches too), its home, its
 * temporary files, its private repository and its snapshots.
 *
 * The limit is limits.max_disk. If that is not set, it is a share of the available space, which is the free
 * space on the Garth home's disk plus what the task holds already: a quarter of it, but at least 20 GB, and
 * never more than nine tenths of it; and never more than the repository's file says.
 */
#ifndef TASK_DISK_LIMIT_H
#define TASK_DISK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "store/store.h"

/* dir is any directory on that disk; held is what the task holds now. */
uint64_t disk_max(const struct config *c, int dir, uint64_t held);
/* The share of the available space `room`. */
uint64_t disk_share(uint64_t room);
/* Whether the task has reached four fifths of its limit, which is worth a warning. */
bool disk_is_near(uint64_t held, uint64_t max);
/* If a command was killed because a file grew beyond the limit: a message that says so, on the heap. Else
 * NULL. exit_code may also be that of a shell that passes it on. */
char *disk_explain(int exit_code, uint64_t max, const char *task);

#endif
