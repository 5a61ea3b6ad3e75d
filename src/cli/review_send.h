/* Sends the comments of an edited review file to the task's agent, as its next prompt. */
#ifndef CLI_REVIEW_SEND_H
#define CLI_REVIEW_SEND_H

#include "cli/review_edit.h"

/* Returns the exit code. The file, which is kept at `path`, is removed when the agent has started with the comments, or if
 * there are none. */
int review_send(struct reviewing *r, const struct buf *edited, const char *path);

/* Prints the error and that the comments are not lost; returns the exit code. */
int review_fail_kept(const struct reviewing *r, const char *path, struct err *e);

#endif
