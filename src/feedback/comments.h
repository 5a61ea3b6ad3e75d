/*
 * Reads the comments in a review file that the user has edited (annotated.h), and finds the line of the diff that
 * each is about: the one above it.
 *
 * Users delete and change other lines by accident. So the file is compared with what was written, and a comment
 * counts as placed only if the lines around it are as they were, from the beginning of its hunk to the line below
 * it. Blank lines that were added and blanks at line ends that were removed do not matter, nor does anything
 * in the heading. After a change, the place is found again at the next hunk of the same file, or at the next file.
 */
#ifndef FEEDBACK_COMMENTS_H
#define FEEDBACK_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "feedback/annotated.h"
#include "feedback/patch.h"

struct comment {
	size_t row;         /* its first line in the edited file, from 1 */
	bool placed;        /* if not, only `row` and `text` are set */
	size_t after;       /* how many lines of the annotated diff are above it; 0: a general remark */
	const char *path;   /* NULL: a general remark. It belongs to the diff */
	unsigned long line; /* 0: the whole file or hunk */
	enum patch_side side;
	char *code; /* the line that it is about, cleaned, without its mark; "" for none */
	char *text; /* lines without ">" */
};

struct comment_list {
	struct comment *v;
	size_t n;
	size_t lost; /* how many are not placed */
};
void comment_list_release(struct comment_list *l);
#define auto_comment_list __attribute__((cleanup(comment_list_release))) struct comment_list

void comments_read(const struct annotated *a, const struct patch *d, const char *text, size_t len,
	struct comment_list *ret);
/* Prints the lines of the diff with the comments at their places. Those that have none are general remarks. */
void comments_print(const struct annotated *a, const struct comment_list *l, struct buf *out);
/* Appends the text as lines of a comment. */
void comments_quote(const char *text, struct buf *out);
/* Only whether the text has a comment. */
bool comments_any(const char *text, size_t len);

#endif
