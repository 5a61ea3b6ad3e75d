/* Changes single values in the text of a JSON file, and no other byte. A log-in file belongs to its agent, which may format
 * it in its own way and keep members there that Garth does not know. */
#ifndef CREDENTIALS_MEMBER_H
#define CREDENTIALS_MEMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Finds the value of a member by its path, "tokens.access_token": from *start on, up to *end. False if there is none,
 * or the text is no JSON object up to there. */
bool member_find(const char *text, size_t len, const char *path, size_t *start, size_t *end);
/* The value as a string, which the caller frees; NULL if it is not a string, or has escapes. */
char *member_string(const char *text, size_t len, const char *path);
/* Replaces a value that is there by a string, which needs no escapes. False if there is none. */
bool member_set(struct buf *text, const char *path, const char *value);
/* The same with JSON in text form, such as a number. */
bool member_set_raw(struct buf *text, const char *path, const char *json);

#endif
