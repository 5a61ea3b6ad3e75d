/*
 * Answers as JSON: one versioned object each. A name means the same thing in every answer; docs/JSON.md lists
 * them, and docs/json-schema.json is what the tests check every command's answer against.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

/* A string that may hold bytes that are not UTF-8: those become U+FFFD. */
json_t *json_text(const char *s);
json_t *json_task(const struct task *t);
/* Prints the task of that name as it is now; the exit code. */
int json_task_now(struct context *c, const char *name);
/* As in 2026-01-31T12:00:00Z; null for 0. */
json_t *json_time(int64_t seconds);
json_t *json_list(const struct strvec *v);
/* The short name of a branch; null for "". */
json_t *json_branch(const char *ref);
/* [{"path", "status"}] of lines "S PATH", where S is git's letter for what happened to the file. */
json_t *json_files(const struct strvec *lines);
/* [{"task", "path"}] of paths that conflict with the target: task is null. */
json_t *json_conflicts(const struct strvec *paths);
/* Adds "version", prints and frees it; the exit code. */
int json_print(json_t *o);
/* An error as every front end tells it: {"error": {"code", "message", "hint"}}. */
json_t *json_error(const struct err *e);
/* From now on stdout is stderr, so that nothing but the answer comes on the real stdout; json_print gives it
 * back. For commands whose program writes there, too. */
void json_reserve_stdout(void);

#endif
