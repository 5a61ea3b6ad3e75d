/*
 * What a task may hold on disk in all: its files, ignored ones and caches too, its home, its temporary files,
 * its private repository and its snapshots.
 *
 * That is limits.max_disk. Where it is not set, it is a share of the room that the task could have, which is
 * what is free on the Garth home's disk and what the task holds already: a quarter of it, at least 20 GB, and
 * never more than nine tenths of it.
 */
#ifndef TASK_DISK_H
#define TASK_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "store/store.h"

/* dir is on the disk; held is what the task has there now. */
uint64_t disk_max(const struct config *c, int dir, uint64_t held);
/* The same of a room that is known. */
uint64_t disk_share(uint64_t room);
/* Whether so much is worth a warning: four fifths of the limit. */
bool disk_is_near(uint64_t held, uint64_t max);
/* Why a command, or a process whose exit code it passes on, was killed, where that is because a file grew
 * beyond the limit; else NULL. On the heap. */
char *disk_explain(int exit_code, uint64_t max, const char *task);

#endif
