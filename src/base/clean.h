/*
 * Makes text that an agent wrote safe to print on a terminal. Control characters and bytes that are not UTF-8
 * become ^X or \xNN. Characters that are invisible, or that change how others are drawn, become <U+200B>.
 * There are no exceptions, not even for the joiners in emoji. Newlines and tabs stay.
 */
#ifndef BASE_CLEAN_H
#define BASE_CLEAN_H

#include <stddef.h>

#include "base/buf.h"

/* Appends the clean form of text. If `colours` is set, colour sequences (ESC [ 0-9;: m) stay. */
void clean_text(struct buf *out, const char *text, size_t len, bool colours);
/* How many bytes of a text that goes on can be cleaned now: the rest may be the beginning of a character, of a
 * colour sequence or of a line end. The rest is short. */
size_t clean_whole(const char *text, size_t len);
/* Appends the text without colour sequences. It is not clean yet. */
void clean_without_colours(struct buf *out, const char *text, size_t len);
/* clean_text on one line: newlines become spaces. */
void clean_line(struct buf *out, const char *text);

#endif
