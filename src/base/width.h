/* How many columns of a terminal a text takes: wide characters take two, combining ones none. The text is cleaned
 * (base/clean.h), so it has no control characters. If the locale (LC_CTYPE, which
 * the caller has set) is not UTF-8, each byte takes one. */
#ifndef BASE_WIDTH_H
#define BASE_WIDTH_H

#include <stddef.h>

#include "base/buf.h"

size_t width_of(const char *text);
/* Appends the text in at most `columns`; the end of a longer one is "…". Returns the columns that it takes. */
size_t width_cut(struct buf *out, const char *text, size_t columns);

#endif
