/*
 * Measures how much of the disk a task uses, in its own process (limits/measure.h). This file decides when to
 * fork it, and acts on its result: a note, a pause, or the end of the task.
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
	int fd;                         /* its result */
	bool late;                      /* the last one took too long and was killed */
	bool outdated;                  /* the one that runs began before the task was paused or resumed */
	bool settled;                   /* one that began after the pause has ended */
	struct disk_room began, paused; /* free space at the keeper's start, and at the pause */
	struct disk_room room;          /* free disk space when the last measurement began */
	int64_t at, not_before;         /* when that was, and the earliest time for the next; clock_ms */
	struct disk_room
		held; /* what the task used by the last measurement before a pause, and the first after it */
	uint64_t max;
};

void meter_start(struct keeper *k);
void meter_stop(struct keeper *k);
/* Called when the task is paused. */
void meter_pause(struct keeper *k);
/* Called when it is resumed, perhaps with other limits: a measurement that runs does not count any more. */
void meter_resume(struct keeper *k);
/* A child has ended; perhaps it is the one that measures. */
void meter_ended(struct keeper *k, pid_t pid);

#endif
