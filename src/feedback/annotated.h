/*
 * The file in which a user reviews a task: a heading, then the diff, cleaned, one line for each line of git's.
 * The user writes comments into it, as lines that begin with ">" (comments.h).
 *
 *	annotated_build(&diff, "fix", &a);
 *	annotated_head(&a, &heading, &out);
 *	comments_print(&a, &comments, &out);
 *	annotated_tail(&heading, &out);
 *
 * Lines of the heading and at the end begin with "#". No line of the diff begins with ">" or "#": git's own lines do
 * not, lines of files have a mark in front, and unusual characters of names and contents are made visible, line
 * breaks of every kind among them.
 */
#ifndef FEEDBACK_ANNOTATED_H
#define FEEDBACK_ANNOTATED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "feedback/patch.h"

/* Beyond this, the rest of a line is counted and not shown. */
#define ANNOTATED_LINE_MAX 2000

struct annotated_line {
	size_t at, len; /* in `text` */
	size_t file;    /* in the diff */
	enum patch_side side;
	unsigned long number;
	bool begins_file, begins_hunk;
};

struct annotated {
	struct buf text; /* the lines, each with its line break */
	struct annotated_line *v;
	size_t n;
	const char **folded; /* for each file of the diff: why it is folded, or NULL */
	size_t files, added, removed;
};

/* `task` is for the commands in the text. ERR_FAILED if the text is too long. */
int annotated_build(const struct patch *d, const char *task, struct annotated *ret, struct err *e);
void annotated_release(struct annotated *a);
#define auto_annotated __attribute__((cleanup(annotated_release))) struct annotated

/* What the heading says. */
struct annotated_heading {
	const char *task;
	const char *tip, *fork;
	const struct strvec *commits;     /* "ID SUBJECT" */
	const struct strvec *uncommitted; /* "M PATH" */
	bool read_only;                   /* it is shown in the pager, where nothing can be written */
};
/* Prints the heading; what follows is printed by comments_print (comments.h). */
void annotated_head(const struct annotated *a, const struct annotated_heading *h, struct buf *out);
/* Prints what follows the diff, so that the agent's text is not at the file's end, where editors look for settings. */
void annotated_tail(const struct annotated_heading *h, struct buf *out);

/* Finds in an edited file which commits it shows. False if the line is gone. */
bool annotated_ids(const char *text, size_t len, char tip[OID_SIZE], char fork[OID_SIZE]);

#endif
