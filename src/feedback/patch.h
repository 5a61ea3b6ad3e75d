/*
 * A diff that git printed, taken apart: the changed files, and where the text of each is. The lines of one file
 * are walked when they are needed.
 *
 *	patch_parse(text, len, &d, e)            text: `git diff-tree -r -M --raw -p`
 *	struct patch_walk w = patch_walk(&d, i);
 *	while (patch_next(&w, &line)) …
 *	patch_release(&d)
 *
 * The text is borrowed and must stay. Nothing of it is cleaned: names and lines are the agent's.
 */
#ifndef FEEDBACK_PATCH_H
#define FEEDBACK_PATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct patch_file {
	char *path;        /* after the change; if the file was removed, before it */
	char status;       /* git's letter: A M D T R C */
	size_t start, end; /* its part of the text */
	size_t lines;      /* of that part */
	size_t added, removed;
	bool binary;
};

struct patch {
	const char *text;
	struct patch_file *v;
	size_t n;
};

/* ERR_FAILED if the text is not what git prints. */
int patch_parse(const char *text, size_t len, struct patch *ret, struct err *e);
void patch_release(struct patch *d);
#define auto_patch __attribute__((cleanup(patch_release))) struct patch

/* What a line is about. */
enum patch_side {
	PATCH_WHOLE, /* the file, or a hunk: no single line */
	PATCH_NEW,   /* a line that is there after the change, at this number */
	PATCH_OLD,   /* a line that was removed, at the number that it had */
};

struct patch_line {
	const char *text; /* without the line break */
	size_t len;
	enum patch_side side;
	unsigned long number; /* 0 if it is not a line of the file */
	bool begins_file;     /* "diff --git …"; a file that became a link has two of them */
	bool begins_hunk;     /* "@@ … @@" */
};

struct patch_walk {
	const char *at, *end;
	unsigned long old, new;
	bool in_hunk;
	struct patch_line last;
};
struct patch_walk patch_walk(const struct patch *d, size_t file);
bool patch_next(struct patch_walk *w, struct patch_line *ret);

#endif
