/*
 * Text that an agent wrote, made fit for a terminal: control characters and bytes that are not UTF-8 are
 * shown as ^X or \xNN instead of being obeyed, and characters that cannot be seen, or that change how others
 * are drawn, as <U+200B>. There is no exception, not for the joiners in emoji either: what is shown is what
 * is there. Newlines and tabs stay.
 */
#ifndef BASE_CLEAN_H
#define BASE_CLEAN_H

#include <stddef.h>

#include "base/buf.h"

/* Appends the clean form of text. With colours, the sequences ESC [ 0-9;: m stay as they are. */
void clean_text(struct buf *out, const char *text, size_t len, bool colours);

#endif
