/*
 * Finds what is wrong with the Garth home and with Garth's refs and worktrees in the users' repositories, and
 * repairs it if asked to (T9, and the orphans of T6).
 *
 *	auto_findings found = { 0 };
 *	doctor_look(c, &found, e);              changes nothing
 *	for each of them with f->would: doctor_mend(c, f, e);
 *
 * doctor_look can run while other commands work. Something that is just being made or removed is no finding:
 * each suspect is checked a second time, under the locks that the other commands take. doctor_mend checks
 * once more under these locks. A crash between any two of its steps is safe: the next doctor_look finds what
 * is left to do. What is in use is left alone.
 *
 * Nothing that may be the only copy of somebody's work is removed. What belongs to no task goes to the trash
 * (found.h) and stays there until `garth gc --empty-trash`. Refs of Garth stay if nothing else reaches their
 * commits.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "task/context.h"

struct finding;
typedef int mend_fn(struct context *c, struct finding *f, struct err *e);

struct finding {
	const char *kind; /* for programs: "worktree-orphaned"; the table in doctor.c has all */
	char *subject;    /* a task's name, a path or a ref; not cleaned for a terminal */
	char *what;       /* what is wrong */
	char *would;      /* what the repair does; NULL if a person must do it, or decide */
	char *hint;       /* a command for that, or NULL */
	bool note;        /* only information: nothing to repair */
	bool done;        /* set by doctor_mend */
	char *said;       /* set by doctor_mend: what it did, or NULL */

	/* For the check that made it: */
	mend_fn *mend;
	int64_t task, project;
	char *path, *oid, *ref;
};

struct findings {
	struct finding *v;
	size_t n, cap;
};
void findings_release(struct findings *f);
#define auto_findings __attribute__((cleanup(findings_release))) struct findings

/* Moves a finding to another list; *f is empty afterwards. */
void findings_take(struct findings *to, struct finding *f);

/* Runs all checks. A check that fails becomes a finding; this fails only if the store cannot be read. */
int doctor_look(struct context *c, struct findings *ret, struct err *e);
/* Does what f->would says. ERR_BUSY if another process works there. If the problem no longer exists, that is
 * a success. */
int doctor_mend(struct context *c, struct finding *f, struct err *e);

#endif
