/*
 * Measures what the task holds on disk, in a process of its own (limits/measure.h): when that is forked, and what
 * follows from its answer.
 */
#ifndef KEEPER_METER_H
#define KEEPER_METER_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper;

struct disk_room {
	uint64_t bytes, files;
};

struct meter {
	struct event *timer;
	pid_t pid;                      /* 0: none runs */
	int fd;                         /* what it answers */
	bool late;                      /* the last one had to be killed */
	struct disk_room began, paused; /* free on the disk when the keeper began, when it was paused */
	struct disk_room room;          /* when the last one began */
	int64_t at, not_before;         /* when that was, and when there may be another; clock_ms */
	struct disk_room held;          /* by the task, as measured last before it was paused */
	uint64_t max;
};

void meter_start(struct keeper *k);
void meter_stop(struct keeper *k);
/* The task is being paused. */
void meter_pause(struct keeper *k);
/* A process has ended, perhaps the one that measures. */
void meter_ended(struct keeper *k, pid_t pid);

#endif
