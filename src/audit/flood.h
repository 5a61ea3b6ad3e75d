/*
 * Keeps an agent from filling the disk with audit lines: events that it can cause at will (a refusal, a
 * connection) are counted. Only the files of audit/ include this; the caller holds audit.lock.
 *
 * The first FLOOD_PLAIN identical events (same event, same details) get a line each. Later ones are counted
 * in the store, and one line a minute reports them: its member "repeated" is the number of events that it
 * covers. A task has a budget of FLOOD_BURST bytes, and FLOOD_RATE more each minute. When it is used up,
 * events with different details are counted together too; their line has "various" instead of details. The
 * sum of all "repeated", plus 1 for each line without it, is the number of events. Before any other event of
 * the task, such as its end, all open counts are written.
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
/* Of the budget, this much is kept for audit_allows. */
#define FLOOD_RESERVE (64 << 10)

struct audit;

/* Whether the event is one that an agent can cause at will. */
bool flood_is_often(const char *event);
/* Writes a line for the event, or counts it. The caller keeps details. */
int flood_add(struct audit *a, struct store *s, const char *event, const struct task *t, json_t *details,
	struct err *e);
/* Takes the bytes from the task's budget, if as much as the reserve is left then. *ret: whether it was. */
int flood_spend(
	struct store *s, const struct task *t, size_t bytes, size_t reserve, bool *ret, struct err *e);
/* Writes lines for the task's open counts: for all of them, or for those whose last line is a minute old. */
int flood_settle(struct audit *a, struct store *s, const struct task *t, bool all, struct err *e);

/* Appends a line (in audit.c). The caller keeps details. */
int audit_append(struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e);

#endif
