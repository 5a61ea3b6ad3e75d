#include <string.h>

#include "publish/job.h"

/* Bytes of the task's budget for a publish that brings nothing new: its line, lines for what was counted before it, and
 * the reflog. */
#define MOVE_COST 2048

/* New commits are limited by their number. Without any, an agent could move its branch back and forth for ever, and
 * each move is recorded. */
int publish_check_rate(struct job *j, struct refusal *no, struct err *e)
{
	bool agent = !strcmp(j->by, "hook") || !strcmp(j->by, "asked"), may = true;

	if (!agent || j->walk.commits)
		return 0;
	if (audit_allows(j->pub->in->audit, &j->pub->in->task, MOVE_COST, &may, e) < 0)
		return -1;
	if (may)
		return 0;
	refuse(no, e, "too_many_moves", "", "the branch was moved back and forth too often");
	return refusal_say(no, "move the branch to a commit that is published already", "wait for a minute");
}
