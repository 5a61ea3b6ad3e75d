/*
 * Reads JSON that somebody else wrote, without building a tree of it: for the small programs, which link no
 * library. Nothing is allocated but the strings that are asked for, and nesting is limited.
 *
 *	struct jread_at top = jread_at(text, len), at = top;
 *	auto_buf name = BUF_SMALL;
 *	if (!jread_is_whole(text, len)) → malformed
 *	if (jread_member(&at, "tool_name") && jread_string(&at, &name)) …
 *
 * The prefix is not json_, which the functions of jansson have. A place (struct jread_at) is copied to come back to it later. After a function returned false, its place is of no use.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct jread_at {
	const char *p, *end;
};

struct jread_at jread_at(const char *text, size_t len);
/* Whether the text is one JSON value and nothing else. */
bool jread_is_whole(const char *text, size_t len);
/* The first character of the value here: { [ " t f n, - or a digit; 0 at the end. */
char jread_peek(struct jread_at *at);
/* Moves from an object to the value of a member. If there are several of that name, to the last, as most readers
 * do. False if there is none, or if it is no object. */
bool jread_member(struct jread_at *at, const char *name);
/* Moves over a string, whose text is appended to out. If it does not fit, its beginning is, and out->overflow is set. Half of a surrogate pair
 * becomes U+FFFD. */
bool jread_string(struct jread_at *at, struct buf *out);
/* Moves over any value. */
bool jread_skip(struct jread_at *at);
/* Goes through an array: jread_array once, then jread_next before each item, which must be moved over. */
bool jread_array(struct jread_at *at);
bool jread_next(struct jread_at *at);
/* Calls fn with each string of the value and of what is in it, but not with names of members; strings longer than `max`
 * are cut. False if the value is malformed. */
typedef void jread_text_fn(const char *text, size_t len, void *arg);
bool jread_each_string(struct jread_at *at, size_t max, jread_text_fn *fn, void *arg);
/* Appends a string literal for bytes that may be anything: what is not UTF-8 becomes U+FFFD. */
void jread_quote(struct buf *out, const char *text);

#endif
