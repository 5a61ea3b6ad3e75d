/* The comments of a review as one text: for the agent as its next prompt, or for the next review. */
#ifndef FEEDBACK_PROMPT_H
#define FEEDBACK_PROMPT_H

#include "base/buf.h"
#include "base/err.h"
#include "feedback/comments.h"

/* A prompt is one argument of a command, and the kernel limits those to 128 KiB. */
#define PROMPT_MAX (100u << 10)

/* General remarks first, then "PATH:LINE", the line and the comment, for each one that is placed. ERR_USAGE if it is
 * too long. */
int prompt_write(const struct comment_list *l, const char *tip, struct buf *out, struct err *e);

/* Turns all comments into general remarks, for a new review, because the branch has moved from `tip`. Each says which line
 * it was about. */
void prompt_carry(struct comment_list *l, const char *tip);

#endif
