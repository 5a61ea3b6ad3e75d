/*
 * Finds out which of a scan's changes git ignores. The rules are the ignore files that the workspace has now
 * (the base's unless they were removed, and the agent's own), the repository's info/exclude, and the user's
 * ignore file. A file that the tip tracks is never ignored.
 *
 * The agent writes ignore files, and some patterns take forever to match. So git has IGNORED_SECONDS in all;
 * what it has not answered by then counts as not ignored, and changes.cannot_tell says so.
 */
#ifndef WORKSPACE_IGNORED_H
#define WORKSPACE_IGNORED_H

#include "base/err.h"
#include "base/strvec.h"
#include "git/scratch.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

#define IGNORED_SECONDS 5

/* Sets `ignored` in each change. `since` is the commit that the scan compares with. */
int ignored_mark(struct workspace *ws, struct scratch *s, const char *since, const char *tip,
	struct changes *c, struct err *e);

/* Removes ignored files from the lines "A path" of `names`, if they are not in the scan or tracked there:
 * files of the base that the tip no longer tracks. */
int ignored_untracked(struct scratch *s, const char *since, struct changes *c, struct strvec *names,
	size_t *ret_ignored, struct err *e);

/* Add rules for scratch_ignored: an ignore file of the workspace as it is now, and the user's ignore file as
 * it was when the task was made. A file that is missing, or too large for an ignore file, adds nothing. */
int ignored_add_rules(struct scratch *s, int root, const char *path, struct err *e);
int ignored_user_rules(struct workspace *ws, struct scratch *s, struct err *e);
/* Those of the base's ignore or attribute files that still exist. git reads none that is a link. */
void ignored_base_rules(const struct changes *c, const struct strvec *files, struct strvec *ret);
/* Whether the path names an ignore file. */
bool ignored_is_rules(const char *path);

/* A summary of ignored files for people: directories with the number of files in them, or single files. If
 * there are more than 20 directories, only the topmost ones are named. */
struct hidden {
	struct hidden_group {
		char *path;
		size_t files;
	} * v;
	size_t n;
	size_t more;         /* files in further directories, which are not named */
	struct strvec rules; /* ignore files that are ignored themselves: nobody reviews what they hide */
};
#define HIDDEN_MAX 1000
void hidden_list(const struct changes *c, struct hidden *ret);
void hidden_release(struct hidden *h);

#endif
