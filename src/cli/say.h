/*
 * What Garth says to people: one sign a message, the answer on stdout, narration on stderr, colours only on a
 * terminal and not with NO_COLOR, plain words where the terminal is not UTF-8.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

void say_done(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    /* ✓ changed */
void say_state(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* ○ how things stand */
void say_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* ▲ */
/* What a jail without namespaces lacks. */
void say_landlock_only(void);
void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* ↳ a command to copy */
/* ✗ with the hint behind it; returns the exit code for the error's kind. */
int say_error(const struct err *e);
/* The same, with a list that the JSON object has beside the error, under this name; the list is freed. */
int say_error_list(const struct err *e, const char *name, json_t *list);
/* With --json, an error is an object on stdout as well. */
void say_errors_as_json(void);
bool say_is_json(void);
/* Each of them as a warning. */
void say_warnings(const struct strvec *warnings);

/* Text that somebody else wrote, on one line and fit for a terminal; out holds it. */
const char *say_one_line(struct buf *out, const char *text);
/* Whether narration has a reader: stderr is a terminal. */
bool say_is_heard(void);
/* Whether colours are wanted on a descriptor. */
bool say_colours(int fd);
bool say_utf8(void);
/* "3 minutes ago" for people; a buffer of the caller's. */
const char *say_age(long long then, char *out, unsigned long len);

#endif
