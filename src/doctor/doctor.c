#include "doctor/doctor.h"

#include "base/alloc.h"
#include "doctor/parts.h"
#include "sys/fault.h"

/* The order in which findings are repaired: what a crash left is finished first, a task's branch is restored
 * before its worktree, and directories come after git's records of worktrees. */
static const struct check {
	const char *name;
	check_fn *look;
} checks[] = {
	/* disk-full */
	{ "disk", full_disks_look },
	/* lock-left */
	{ "locks", locks_look },
	/* merge-left */
	{ "merges", merges_look },
	/* keeper-gone, half-made, half-discarded, half-renamed, sockets */
	{ "tasks", tasks_look },
	/* branch-missing, branch-orphaned, branch-unknown, pins-missing, pins-orphaned, pins-unknown,
	 * pins-old, fetch-left */
	{ "refs", refs_look },
	/* the same in the repositories of submodules: branch-missing, -orphaned, -unknown, pins-missing, -orphaned,
	 * -unknown */
	{ "submodules", submodules_look },
	/* branch-moved */
	{ "moved", moved_look },
	/* repository-gone, home-moved, workspace-deleted, workspace-half, worktree-unregistered, -unlocked */
	{ "missing", missing_look },
	/* worktree-orphaned, worktree-locked */
	{ "worktrees", worktrees_look },
	/* directory-orphaned, trash-unknown, store-new */
	{ "places", places_look },
	/* aside */
	{ "aside", aside_look },
	/* base-changed, base-half */
	{ "bases", bases_look },
	/* layer-changed, layer-half */
	{ "layers", layers_look },
	/* quarantine */
	{ "quarantines", quarantines_look },
	/* pack-kept */
	{ "kept packs", kept_packs_look },
	/* scratch, trash-half, cgroup */
	{ "leftovers", leftovers_look },
	/* mount */
	{ "mounts", mounts_look },
	/* audit-broken */
	{ "chain", audit_chain_look },
	/* notify-missing */
	{ "notify", notify_look },
};

/* In a copy, nothing else is checked: everything in the repositories belongs to the original. */
static void report_copy(const struct home *h, struct findings *out)
{
	auto_str quoted = finding_quoted(h->path);

	finding_hint(
		finding_add(out, "home-copied", h->path,
			"this Garth home is a copy of '%s', whose tasks, branches and worktrees it shows and leaves alone; when the original is gone, the copy takes its place",
			h->copy_of),
		"rm -r %s", quoted);
}

int doctor_look(struct context *c, struct findings *ret, struct err *e)
{
	auto_survey s = { 0 };

	*ret = (struct findings){ 0 };
	if (c->home.copy_of)
		return report_copy(&c->home, ret), 0;
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
