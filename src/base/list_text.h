/*
 * Lists in messages: a name on each line below the message, indented. The names are somebody else's, so they
 * are cleaned (clean.h), and a newline in one becomes a space.
 *
 *	3 uncommitted files
 *	  a.txt
 *	  dir/b.txt
 *	  … and 1,479 more
 */
#ifndef BASE_LIST_TEXT_H
#define BASE_LIST_TEXT_H

#include "base/buf.h"
#include "base/strvec.h"

/* Appends at most `max` of the names, each without its first `skip` characters, and how many there are more. */
void list_lines(struct buf *out, const struct strvec *names, size_t skip, size_t max);
/* Appends a message with such a list as one line: "3 uncommitted files: a.txt, dir/b.txt and 1,479 more". */
void list_on_one_line(struct buf *out, const char *text);

#endif
