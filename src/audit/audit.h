/*
 * The audit log: $GARTH_HOME/audit.jsonl, one JSON object a line, only ever appended to, each line bound to
 * the one before it by its hash. Outside of every jail's reach.
 *
 *	{"v":1,"seq":7,"time":"2026-01-31T12:00:00.123Z","event":"publish","task":"fix","task_id":3,
 *	 …details…,"prev":"<hash of line 6>","hash":"<SHA-256 of this line up to ',\"hash\"', prev included>"}
 *
 * All of it is ASCII (other characters as \u…), 64 KiB a line at most. The first line's prev is "".
 *
 * Who writes a line holds the lock audit.lock, finds the end, heals a line that a crash or a full disk cut
 * short (a torn last line is cut off: it was never acknowledged), appends with one write, and tells the
 * store the newest seq and hash (the fact "audit_head"), so that a cut-off end is found too. After a crash
 * the store may lag, never lead; a log that ends before what the store knows is not appended to
 * (ERR_CONFLICT), since that would hide it. One that is empty or was moved away goes on with the next seq:
 * the way out, by which what is missing stays to be seen. A line that cannot be written makes the caller's
 * deed fail: recorded, then done (G1, G7).
 *
 * Events that an agent can cause at will are counted when they come too often, and one line stands for many
 * of them: "repeated" says how many (flood.h).
 *
 * Nobody waits for the disk: there is no fsync, a line outlives every process but the last seconds before a
 * loss of power may be missing.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct audit;

/* home: descriptor of the Garth home. The store is borrowed and may be NULL where it cannot be opened. */
int audit_open(int home, struct store *s, struct audit **ret, struct err *e);
void audit_close(struct audit *a);
void audit_closep(struct audit **a);
#define auto_audit __attribute__((cleanup(audit_closep))) struct audit *

/* Appends a line. task may be NULL (an event of no task: both members are null). details is an object whose
 * members are added (may be NULL) and that has none of the names above; it is consumed, also on failure.
 * Strings that are long or not UTF-8 are the caller's to cut and clean (audit_text): a line beyond 64 KiB is
 * refused. Not between store_begin and store_commit: another process that holds audit.lock may be waiting for
 * the store. Where only the store fails, the line stands and the call fails. */
int audit_add(struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e);
/* A JSON string; bytes that are not UTF-8 become U+FFFD, and what is beyond the limit becomes "…": an agent
 * must not keep a line from being written by naming something long. The limit is of its bytes, and of those
 * that it has in the log, where all but printable ASCII is escaped. Four of the longest fit into a line. */
#define AUDIT_TEXT_MAX    4096
#define AUDIT_ESCAPED_MAX (3 * AUDIT_TEXT_MAX)
json_t *audit_text(const char *s);

/* Reads lines from *offset on, calling fn with each whole line (without its line break) and moving *offset
 * behind it. fn returns 0 to go on; anything else ends the reading and is returned. No file is an empty one;
 * one that is shorter than *offset is another one, read from its beginning. */
typedef int audit_fn(const char *line, size_t len, void *arg, struct err *e);
int audit_read(int home, uint64_t *offset, audit_fn *fn, void *arg, struct err *e);

/* Checks the chain from the first line to the newest hash that the store knows. *ret_lines is how many lines
 * are good. ERR_CONFLICT names the first line that is changed, missing, moved or cut off: "line 12 (seq 12)
 * was changed", "after line 11: seq 12 to 14 are missing", "the log ends at seq 20, the store knows of 25".
 */
int audit_verify(int home, struct store *s, uint64_t *ret_lines, struct err *e);

#endif
