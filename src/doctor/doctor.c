#include "doctor/doctor.h"

#include "base/alloc.h"
#include "doctor/parts.h"
#include "sys/fault.h"

/* In the order of mending: what a crash left is finished first, a task's branch is there before its worktree
 * is made again, and who looks at places does so when the records of git's have been looked at. */
static const struct check {
	const char *name;
	check_fn *look;
} checks[] = {
	{ "disk", disk_look },           /* disk-full */
	{ "merges", merges_look },       /* merge-left */
	{ "tasks", tasks_look },         /* keeper-gone, half-made, half-discarded, sockets */
	{ "refs", refs_look },           /* branch-missing, pins-missing, branch-orphaned, pins-orphaned */
	{ "missing", missing_look },     /* workspace-deleted, worktree-unregistered, worktree-unlocked … */
	{ "worktrees", worktrees_look }, /* worktree-orphaned, worktree-locked */
	{ "places", places_look },       /* directory-orphaned, trash-unknown */
	{ "bases", bases_look },         /* base-changed, base-half */
	{ "quarantines", quarantines_look }, /* quarantine */
	{ "leftovers", leftovers_look },     /* scratch, trash-half, cgroup */
	{ "mounts", mounts_look },           /* mount */
	{ "chain", chain_look },             /* audit-broken */
};

int doctor_look(struct context *c, struct findings *ret, struct err *e)
{
	auto_survey s = { 0 };

	*ret = (struct findings){ 0 };
	if (survey_read(c, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct err failed = ERR_INIT;

		if (checks[i].look(&s, ret, &failed) < 0)
			finding_add(ret, "unseen", checks[i].name, "cannot be looked at: %s", failed.msg);
	}
	return 0;
}

int doctor_mend(struct context *c, struct finding *f, struct err *e)
{
	if (!f->mend)
		return err_set(e, ERR_REFUSED, "this is for a person to decide");
	fault("doctor-mend");
	if (context_store(c, e) < 0 || f->mend(c, f, e) < 0)
		return -1;
	f->done = true;
	return 0;
}
