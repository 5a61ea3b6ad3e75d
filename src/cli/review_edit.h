/* A review of a task on this terminal: the parts of `garth review` that read what is published and send comments. */
#ifndef CLI_REVIEW_EDIT_H
#define CLI_REVIEW_EDIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "feedback/comments.h"
#include "feedback/published.h"
#include "feedback/review_dir.h"
#include "runtime/run.h"
#include "task/context.h"
#include "task/task.h"

struct reviewing {
	struct context *c;
	struct task *t;
	struct task_at at;
	int dir; /* the task's directory */
	struct review_dir kept;
	struct published p;
	struct strvec uncommitted; /* "M PATH" */
	struct run_opts run;       /* how the task is resumed */
	bool json;
	bool discard; /* throw a kept review away */
};
#define REVIEWING_INIT(context, task_)                                                                       \
	{                                                                                                    \
		.c = (context), .t = (task_), .at.ws.dir = -1, .dir = -1, .kept = REVIEW_DIR_INIT            \
	}
void reviewing_release(struct reviewing *r);
#define auto_reviewing __attribute__((cleanup(reviewing_release))) struct reviewing

/* Opens the task; nothing is read yet. */
int reviewing_open(struct reviewing *r, struct err *e);
/* Reads what is published now, and what is not committed. */
int reviewing_read(struct reviewing *r, struct err *e);
/* The review file, with these comments. */
void reviewing_text(
	const struct reviewing *r, const struct comment_list *comments, bool read_only, struct buf *out);

/* Each returns the exit code, after it has said what happened. */
/* Lets the user write comments in an editor, and sends them. */
int reviewing_edit(struct reviewing *r, const char *editor);
/* Sends the comments of a file that the user has edited elsewhere; "-" is stdin. */
int reviewing_take(struct reviewing *r, const char *file);

#endif
