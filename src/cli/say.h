/*
 * Messages for people: one sign for each message, answers on stdout, messages on stderr. Colours only on a
 * terminal and not with NO_COLOR; plain words if the terminal is not UTF-8.
 *
 *                    terminal   pipe, file   --quiet   --json
 *	say_done       shown      shown        -         -
 *	say_state      shown      shown        -         -
 *	say_warning    shown      shown        shown     shown
 *	say_error      shown      shown        shown     shown, and an object on stdout
 *	say_hint       shown      as the message before it, if that is a warning, an error or a question
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
/* ○ what a task asks. As say_state, but its hint is shown outside a terminal too: the task waits. */
void say_question(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* ↳ a command to copy */
/* ✗ a task failed, which is no failure of this command. */
void say_failure(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* In hints, the task of this name is called `as`, such as "lib/fix". */
void say_task_as(const char *name, const char *as);
/* Prints ✗ and the hint; returns the exit code for the error's kind. */
int say_error(const struct err *e);
/* The same, with members for the JSON object beside the error; NULL for none. Frees them. */
int say_error_members(const struct err *e, json_t *members);
/* The same, but never as JSON. */
int say_error_text(const struct err *e);
/* From now on errors are also printed as JSON on stdout (--json). */
void say_errors_as_json(void);
bool say_is_json(void);
/* From now on only warnings and errors are shown (--quiet). */
void say_quietly(void);
/* ▲ with the names below, as many as SAY_NAMES (base/list_text.h). */
#define SAY_NAMES 10
void say_warning_list(const struct strvec *names, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* ▲ with somebody else's message, cleaned: its first line after `before`, and below it the names that further lines have. */
void say_warning_text(const char *before, const char *text);
/* Prints each one as a warning. */
void say_warnings(const struct strvec *warnings);

/* Somebody else's text on one line, cleaned for a terminal. The result points into out. */
const char *say_one_line(struct buf *out, const char *text);
/* Whether somebody watches: stderr is a terminal. For what is of no use in a script: progress, more than one
 * line about a success. */
bool say_is_heard(void);
/* Whether --quiet was given. */
bool say_is_quiet(void);
/* Whether to use colours on a descriptor. */
bool say_colours(int fd);
bool say_utf8(void);
/* "3 minutes ago", in the caller's buffer. */
const char *say_age(long long then, char *out, unsigned long len);

#endif
