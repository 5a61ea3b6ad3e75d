/*
 * The audit log records what tasks and users did, in $GARTH_HOME/audit.jsonl. No jail can reach it. It is
 * append-only, with one JSON object a line. Each line has the hash of the line before it, so a changed or
 * missing line is found.
 *
 *	{"v":1,"seq":7,"time":"2026-01-31T12:00:00.123Z","event":"publish","task":"fix","task_id":3,
 *	 "project":"app",…details…,"prev":"<hash of line 6>","hash":"<SHA-256 of this line up to ',\"hash\"', prev included>"}
 *
 * The log is ASCII (other characters are \u…), and a line has at most 64 KiB. The first line's prev is "".
 *
 *	auto_audit a = NULL;
 *	audit_open(home, store, &a, e)
 *	audit_add(a, "merge", task, json_pack(…), e) < 0 → do not do what was to be recorded
 *
 * audit_add waits for the lock audit.lock. Under it, it finds the end of the log and cuts off a last line
 * that a crash or a full disk left incomplete; nobody was told that such a line was written. Then it appends
 * the new line with one write and stores its seq and hash as the fact "audit_head", so that a truncated log
 * is noticed.
 *
 * After a crash the store may be behind the log, never ahead. If the log ends before the line that the store
 * knows, audit_add refuses to append (ERR_CONFLICT), since a new line would hide the loss. If the log is
 * empty or was moved away, it starts again with the next seq, and the gap stays visible.
 *
 * The line is written before the action (G1, G7): if it cannot be written, the caller must not act.
 *
 * Events that an agent can cause at will are counted if they are too frequent; then one line covers many of
 * them, and its member "repeated" says how many (flood.h).
 *
 * There is no fsync: a line survives the crash of any process, but a power failure may lose the last seconds.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct audit;

/* home is a descriptor of the Garth home. The store is borrowed; it may be NULL if it cannot be opened. */
int audit_open(int home, struct store *s, struct audit **ret, struct err *e);
void audit_close(struct audit *a);
void audit_closep(struct audit **a);
#define auto_audit __attribute__((cleanup(audit_closep))) struct audit *

/* Appends a line. If the event belongs to no task, task is NULL, and its name and id are null. details is
 * an object whose members are added to the line, or NULL. It must not use the names above; it is consumed,
 * also on failure. The caller shortens and cleans strings with audit_text, since a line beyond 64 KiB is
 * refused. Do not call this between store_begin and store_commit: another process that holds audit.lock may
 * be waiting for the store. If only the write to the store fails, the line stays in the log and the call
 * fails. */
int audit_add(struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e);
/* Before something that an agent can cause at will, as often as it likes, and that gets a line of its own: takes the
 * bytes from the task's budget (flood.h). *ret: whether there were enough; if not, it must not be done. bytes are what
 * it leaves in the log and elsewhere. */
int audit_allows(struct audit *a, const struct task *task, size_t bytes, bool *ret, struct err *e);
/* Makes a JSON string. Bytes that are not UTF-8 become U+FFFD, and the end of a long text becomes "…": an
 * agent must not be able to prevent a line by naming something long. Both the text's bytes and its escaped
 * form in the log are limited. Four strings of the maximal length fit into a line. */
#define AUDIT_TEXT_MAX    4096
#define AUDIT_ESCAPED_MAX (3 * AUDIT_TEXT_MAX)
json_t *audit_text(const char *s);

/* Reads lines from *offset on. Calls fn with each complete line (without its line break) and moves *offset
 * behind it. fn returns 0 to continue; any other value ends the reading and is returned. A missing file
 * counts as empty. A file that is shorter than *offset was replaced, and is read from its beginning. */
typedef int audit_fn(const char *line, size_t len, void *arg, struct err *e);
int audit_read(int home, uint64_t *offset, audit_fn *fn, void *arg, struct err *e);

/* Checks the chain from the first line to the newest hash that the store knows. *ret_lines is the number
 * of good lines. ERR_CONFLICT names the first line that is changed, missing, moved or cut off: "line 12
 * (seq 12) was changed", "after line 11: seq 12 to 14 are missing", "the log ends at seq 20, the store
 * knows of 25". */
int audit_verify(int home, struct store *s, uint64_t *ret_lines, struct err *e);

#endif
