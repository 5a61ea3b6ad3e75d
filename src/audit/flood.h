/*
 * Events that an agent can cause as often as it likes (a refusal, a connection): recorded without filling the
 * disk. For the files of this room alone; the caller holds audit.lock.
 *
 * The first FLOOD_PLAIN events that are the same in all details have a line each. Further ones are counted,
 * in the store, and one line a minute tells of them: it has "repeated", the number of events that it stands
 * for. Beyond a task's budget of bytes (FLOOD_BURST, and FLOOD_RATE more each minute) what differs in its
 * details is counted together as well, and such a line has "various" instead of details. The sum of all
 * "repeated", with 1 for a line without it, is how often it happened. Other events of the task, its end among
 * them, have lines for all counts that are open written before them.
 */
#ifndef AUDIT_FLOOD_H
#define AUDIT_FLOOD_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"

#define FLOOD_PLAIN 5
#define FLOOD_QUIET 60
#define FLOOD_BURST (256 << 10)
#define FLOOD_RATE  (8 << 10)

struct audit;

/* Whether the event is one of those. */
bool flood_is_often(const char *event);
/* Records or counts it. details stay the caller's. */
int flood_add(struct audit *a, struct store *s, const char *event, const struct task *t, json_t *details,
	struct err *e);
/* Writes lines for the task's open counts: all of them, or those that are a minute old. */
int flood_settle(struct audit *a, struct store *s, const struct task *t, bool all, struct err *e);

/* audit.c: appends a line. details stay the caller's. */
int audit_append(struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e);

#endif
