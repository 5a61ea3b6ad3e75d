/*
 * What is wrong with the Garth home and with what Garth has in the users' repositories, found and, when
 * asked, mended (T9, and the orphans of T6).
 *
 *	auto_findings found = { 0 };
 *	doctor_look(c, &found, e);              changes nothing
 *	for each of them with f->would: doctor_mend(c, f, e);
 *
 * Looking is safe beside everything else that works: what is just being made or removed is no finding, since
 * each is looked at a second time, under the locks that the other commands take, before it is one. Mending
 * looks once more under these locks, and then takes steps each of which can be the last: whoever looks after
 * a crash finds what is left to do. What is in use is left alone.
 *
 * Nothing that may be the only copy of somebody's work is removed. What belongs to no task goes to the trash
 * (found.h), from where `garth gc` removes it when its term is over; commits that only Garth's refs reach
 * keep these refs.
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
	const char *kind; /* for programs: "worktree-orphaned"; all are in the table of doctor.c */
	char *subject;    /* a task's name, a path, a ref; as it is, to be cleaned for a terminal */
	char *what;       /* what is wrong with it */
	char *would;      /* what mending does; NULL where that is for a person to do, or to decide */
	char *hint;       /* the command for that, or NULL */
	bool note;        /* good to know, and nothing that has to be mended */
	bool done;        /* by doctor_mend */
	char *said;       /* by doctor_mend: what came of it, or NULL */

	/* For the check that found it: */
	mend_fn *mend;
	int64_t task, project;
	char *path, *oid;
};

struct findings {
	struct finding *v;
	size_t n, cap;
};
void findings_release(struct findings *f);
#define auto_findings __attribute__((cleanup(findings_release))) struct findings

/* Moves one to another list; what is left in its place is empty. */
void findings_take(struct findings *to, struct finding *f);

/* A check that fails is itself a finding; what fails here is that the store cannot be read. */
int doctor_look(struct context *c, struct findings *ret, struct err *e);
/* Does what f->would says; ERR_BUSY where somebody is at work there. What has come right by itself is done.
 */
int doctor_mend(struct context *c, struct finding *f, struct err *e);

#endif
