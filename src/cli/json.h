/* Answers as JSON: one versioned object each. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "base/strvec.h"
#include "store/store.h"

/* A string that may hold bytes that are not UTF-8: those become U+FFFD. */
json_t *json_text(const char *s);
json_t *json_task(const struct task *t);
/* As in 2026-01-31T12:00:00Z; null for 0. */
json_t *json_time(int64_t seconds);
json_t *json_list(const struct strvec *v);
/* Adds "version": 1, prints and frees it; the exit code. */
int json_print(json_t *o);

#endif
