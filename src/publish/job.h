/* One publish in progress: the state that publish.c, known_commits.c and commit.c share. */
#ifndef PUBLISH_JOB_H
#define PUBLISH_JOB_H

#include <stdbool.h>

#include "base/strvec.h"
#include "publish/published_links.h"
#include "publish/publisher.h"
#include "publish/oidset.h"
#include "publish/refusal.h"
#include "publish/walk.h"

struct job {
	struct publisher *pub;
	struct verifier *v;
	const char *tip, *by;
	int offer;                            /* a pack that came with the request; -1: none */
	char old[OID_SIZE], target[OID_SIZE]; /* the values of the branch and the target; "": no target */
	char fetched[OID_SIZE]; /* the target's value at the remote, if the task was shown it; else "" */
	char fork[OID_SIZE];    /* the newest commit that the tip and the target have in common */
	bool creates;           /* the branch does not exist yet: of a submodule */
	bool moved;             /* somebody else moved the branch */
	bool lost;    /* the branch's commit is missing: all of the task's commits are published again */
	bool forward; /* the old tip is an ancestor of the new one */
	struct strvec known;   /* the base, the old tip, the target here and at the remote */
	uint64_t bytes_before; /* what the task has published so far, from submodules, too */
	struct oidset fresh;
	struct walk_result walk;
	struct published_links links; /* which commits the gitlinks of submodules may name */
};

/* Fills a refusal that says what to do after somebody else moved the branch. */
int refuse_moved(const struct job *j, const char *now, struct refusal *no, struct err *e);

/* At most so many tips are sent to pack-objects: each one costs it time. */
#define PUBLISH_KNOWN_MAX 60

/* known_commits.c */

/* All commits that the task was shown or has published and that still exist. */
int publish_list_known(struct job *j, struct strvec *ret, struct err *e);
/* Whether the task was shown all of these commits, or has published them. */
int publish_are_known(struct job *j, const struct strvec *commits, bool *ret, struct err *e);
/* Commits that the pack may leave out: the known ones and, if the new commits are based on a tag or an older
 * branch, what git inside names. The latter is a claim, and only makes the pack smaller. */
void publish_left_out(struct job *j, struct strvec *ret);

/* rate.c: refuses a publish without new commits if the agent asks for it too often. */
int publish_check_rate(struct job *j, struct refusal *no, struct err *e);

/* lfs_objects.c: the content of the LFS files that the new commits have goes to the user's store. The last check. */
int publish_lfs(struct job *j, struct refusal *no, struct err *e);

/* commit.c: records the publish, adds the objects to the shared repository, and moves the branch. Called
 * after all checks. */
int publish_commit(struct job *j, struct refusal *no, struct err *e);
/* Waits while the user's `git gc` runs, which may delete the new objects as garbage. With `moved`, adds them
 * again. */
void wait_for_gc(struct job *j, bool moved);

#endif
