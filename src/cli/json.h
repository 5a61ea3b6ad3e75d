/*
 * Answers as JSON: one object each, with a version. A name means the same in every answer; docs/JSON.md lists
 * the names, and the tests check every answer against docs/json-schema.json.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

/* A string; bytes that are not UTF-8 become U+FFFD. */
json_t *json_text(const char *s);
json_t *json_task(const struct task *t);
/* Prints the named task as it is now; returns the exit code. */
int json_task_now(struct context *c, int64_t id);
/* "2026-01-31T12:00:00Z"; null for 0. */
json_t *json_time(int64_t seconds);
json_t *json_list(const struct strvec *v);
/* The short name of a branch; null for "". */
json_t *json_branch(const char *ref);
/* [{"path", "status"}] from lines "S PATH", where S is git's status letter. */
json_t *json_files(const struct strvec *lines);
/* [{"task", "path"}] for paths that conflict with the target; task is null. */
json_t *json_conflicts(const struct strvec *paths);
/* Adds "version", prints and frees the object; returns the exit code. */
int json_print(json_t *o);
/* An error in the form that every front end uses: {"error": {"code", "message", "hint"}}. */
json_t *json_error(const struct err *e);
/* Sends stdout to stderr until json_print, so that only the answer is on the real stdout. For commands that
 * run a program that also writes to stdout. */
void json_reserve_stdout(void);

#endif
