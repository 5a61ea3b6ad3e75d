/*
 * Includes: untracked files of the user's checkout that a new workspace gets, such as .env or certificates.
 * Which ones is said by patterns in the syntax of git's ignore files: in .worktreeinclude of the base commit,
 * and in the configuration (workspace.include). They become a layer (layer.h), which is made again when one of
 * them has changed. Nothing is linked to the original, and no link is followed.
 */
#ifndef WORKSPACE_INCLUDE_H
#define WORKSPACE_INCLUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "workspace/home.h"

#define INCLUDE_FILE ".worktreeinclude"

struct include_report {
	size_t files;
	uint64_t bytes;
	struct strvec names;       /* of some of them, at most LAYER_NAMES_MAX */
	struct strvec not_ignored; /* those that git would not ignore in the task: they can be committed */
	struct strvec
		left_out; /* those that are not taken: links that lead out, special files, repositories, keys */
};
void include_report_release(struct include_report *r);
#define auto_include_report __attribute__((cleanup(include_report_release))) struct include_report

/* The lines of the commit's include file; none if it has no such file. */
int include_patterns(const struct repo *r, struct strvec *ret, struct err *e);

struct include_spec {
	const struct strvec *patterns;
	const struct strvec *never; /* absolute paths: nothing of what is below them is taken */
	bool only_ignored; /* files that git does not ignore are skipped: they come as uncommitted changes */
};

/* Makes or finds the layer with what r->top has of the patterns' files and r->commit does not track. *ret_name
 * is its name, on the heap, or NULL if there is nothing to include. *ret_lock is the layer's lock, which keeps
 * it from being removed until the task that uses it is in the store. */
int include_layer(const struct home *h, int64_t project, const struct repo *r,
	const struct include_spec *spec, char **ret_name, int *ret_lock, struct include_report *rep,
	struct err *e);

/* Those of the paths that the commit's ignore files, info/exclude and the user's ignore file do not ignore. A
 * directory's path ends in "/". */
int include_not_ignored(const struct home *h, const struct repo *r, const struct strvec *paths,
	struct strvec *ret, struct err *e);

/* The lines of an ignore file, without a byte order mark. */
void include_lines(const char *text, struct strvec *ret);
/* Adds git's option for a line as git reads it from an ignore file: without a comment, and spaces at the end. */
void include_option(const char *line, struct strvec *args);

#endif
