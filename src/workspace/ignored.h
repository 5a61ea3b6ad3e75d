/*
 * Which of a scan's changes git ignores: by the ignore files that the workspace has now (the base's, unless
 * they are gone, and the agent's own), the repository's info/exclude, and the user's ignore file. What the
 * tip tracks is never ignored.
 *
 * Ignore files are the agent's to write, and patterns can be made to take for ever. git has IGNORED_SECONDS
 * in all; what it could not answer by then counts as not ignored, and changes.cannot_tell says so.
 */
#ifndef WORKSPACE_IGNORED_H
#define WORKSPACE_IGNORED_H

#include "base/err.h"
#include "base/strvec.h"
#include "git/scratch.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

#define IGNORED_SECONDS 5

/* Sets `ignored` of each change. since: the commit that the scan compares with. */
int ignored_mark(struct workspace *ws, struct scratch *s, const char *since, const char *tip,
	struct changes *c, struct err *e);

/* Takes those lines "A path" out of `names` that are not in the scan, or tracked there, and ignored: files
 * of the base that the tip does not track any more. */
int ignored_untracked(struct scratch *s, const char *since, struct changes *c, struct strvec *names,
	size_t *ret_ignored, struct err *e);

/* An ignore file of the workspace as it is now, and the user's own as it was when the task was made: for
 * scratch_ignored. One that is not there or too large for an ignore file has no rules. */
int ignored_add_rules(struct scratch *s, int root, const char *path, struct err *e);
int ignored_user_rules(struct workspace *ws, struct scratch *s, struct err *e);
/* Whether the path is that of an ignore file. */
bool ignored_is_rules(const char *path);

/* What is ignored, for people: directories with the number of files in them, or single files. Beyond 20
 * directories only the topmost ones are named. */
struct hidden {
	struct hidden_group {
		char *path;
		size_t files;
	} * v;
	size_t n;
	size_t more;         /* files in none of these: there are too many */
	struct strvec rules; /* ignore files that are ignored themselves: what they hide nobody reviews */
};
#define HIDDEN_MAX 1000
void hidden_list(const struct changes *c, struct hidden *ret);
void hidden_release(struct hidden *h);

#endif
