/*
 * Git inside a task: the real one, in the workspace, with the hook told to step aside. What it prints is a
 * claim.
 *
 *	inside_ask(g, &out, &code, e, "symbolic-ref", "-q", "HEAD", NULL);     a question that takes no time
 *	inside_do(g, NULL, NULL, e, "reset", "-q", "--hard", commit, NULL);    work
 *
 * out may be NULL. Where ret_code is NULL, another code than 0 is an error with git's words in it. A question
 * has little time, so that a pipe in the place of its configuration holds nobody up for long.
 */
#ifndef GATEWAY_INSIDE_H
#define GATEWAY_INSIDE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "gateway/gate.h"

#define INSIDE_SECONDS 300
/* For what goes over all files of a large workspace. */
#define INSIDE_LONG 800

int inside_ask(struct gate *g, struct buf *out, int *ret_code, struct err *e, ...) __attribute__((sentinel));
int inside_do(struct gate *g, struct buf *out, int *ret_code, struct err *e, ...) __attribute__((sentinel));
/* The same with a list of arguments, an input, and a time. */
int inside_git(struct gate *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e);
/* The command for it, to be started with descriptors of one's own. */
void inside_command(struct gate *g, const struct strvec *args, struct order_cmd *ret);
/* Makes directories of the workspace, and those above them. */
int inside_mkdirs(struct gate *g, const struct strvec *paths, struct err *e);
/* The objects of a pack, read from a file of the caller's, go into its store. */
int inside_unpack(struct gate *g, int pack, struct err *e);

#endif
