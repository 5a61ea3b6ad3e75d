/*
 * Messages for people: one sign for each message, answers on stdout, messages on stderr. Colours only on a
 * terminal and not with NO_COLOR; plain words if the terminal is not UTF-8.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

void say_done(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    /* ✓ something was changed */
void say_state(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* ○ how things are */
void say_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* ▲ */
/* Warns what a jail without namespaces lacks. */
void say_landlock_only(void);
void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* ↳ a command to copy */
/* Prints ✗ and the hint; returns the exit code for the error's kind. */
int say_error(const struct err *e);
/* The same, with a list for the JSON object under this name. Frees the list. */
int say_error_list(const struct err *e, const char *name, json_t *list);
/* From now on errors are also printed as JSON on stdout (--json). */
void say_errors_as_json(void);
bool say_is_json(void);
/* Prints each one as a warning. */
void say_warnings(const struct strvec *warnings);

/* Somebody else's text on one line, cleaned for a terminal. The result points into out. */
const char *say_one_line(struct buf *out, const char *text);
/* Whether somebody reads the messages: stderr is a terminal. */
bool say_is_heard(void);
/* Whether to use colours on a descriptor. */
bool say_colours(int fd);
bool say_utf8(void);
/* "3 minutes ago", in the caller's buffer. */
const char *say_age(long long then, char *out, unsigned long len);

#endif
