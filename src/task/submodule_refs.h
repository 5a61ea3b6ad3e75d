/*
 * A task's refs in the user's repositories of its submodules:
 *
 *	refs/heads/garth/<task>        what it published there; made by the first commit. If Garth did not make a
 *	                               branch of that name, it belongs to the user
 *	refs/garth/tasks/<id>/kept     tips that were rewritten
 *	refs/garth/trash/<id>/tip      for a task in the trash or an archive: the branch's tip
 *	refs/garth/trash/<id>/kept     … and the rewritten ones
 *
 * When a task is removed, a branch stays if the user needs it: a checkout has it, or a superproject's branch names one
 * of its commits and no other branch there has that commit. A gitlink alone does not keep a commit from `git gc`.
 *
 *	submodule_refs_find     before the task is removed: decides
 *	submodule_refs_save     to a file in the task's directory, which goes to the trash with it
 *	submodule_refs_load     from there
 *	submodule_refs_drop, _restore, _forget: when it is removed, brought back, or leaves the trash. All are idempotent
 */
#ifndef TASK_SUBMODULE_REFS_H
#define TASK_SUBMODULE_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"
#include "task/task.h"
#include "workspace/submodules.h"

enum submodule_stays {
	STAYS_NOT = '-',
	STAYS_CHECKED_OUT = 'c',
	STAYS_NAMED = 'n', /* a superproject's branch names its commits, and no other branch there has them */
};

struct submodule_ref {
	char *path, *git_dir;
	char tip[OID_SIZE]; /* of the branch; "" if there is none */
	enum submodule_stays stays;
};

struct submodule_refs {
	struct submodule_ref *v;
	size_t n;
};
void submodule_refs_release(struct submodule_refs *r);
#define auto_submodule_refs __attribute__((cleanup(submodule_refs_release))) struct submodule_refs

/* Those of the task's submodules that have refs of it. */
int submodule_refs_find(struct context *c, struct task_at *a, struct submodule_refs *ret, struct err *e);
/* Writes the file, or removes it if there are none. */
int submodule_refs_save(int dir, const struct submodule_refs *r, struct err *e);
/* dir is the task's directory, or its directory in the trash. */
int submodule_refs_load(int dir, struct submodule_refs *ret, struct err *e);
/* For a task that was just removed. */
void submodule_refs_load_removed(struct context *c, const struct task *t, struct submodule_refs *ret);

int submodule_refs_drop(const struct task *t, const struct submodule_refs *r, struct err *e);
/* ERR_EXISTS if a new branch has the name. */
int submodule_refs_check_free(const struct task *t, const struct submodule_refs *r, struct err *e);
int submodule_refs_restore(const struct task *t, const struct submodule_refs *r, struct err *e);
void submodule_refs_forget(int64_t task, const struct submodule_refs *r);

/* Whether the task made its branch in the submodule's repository; `now` is the branch's commit. */
int submodule_refs_is_own(
	struct context *c, const struct task *t, const char *path, const char *now, bool *ret, struct err *e);
/* The commit that `commit` of the superproject (an id or the full name of a branch) names for the n-th submodule,
 * through those around it; "" for none. */
void submodule_refs_named(const struct workspace *ws, const struct submodules *s, size_t n,
	const char *commit, char out[OID_SIZE]);

#endif
