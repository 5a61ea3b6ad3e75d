/* Looking at the refs that Garth has in a project's repository: for the two files that do. */
#ifndef DOCTOR_REFS_H
#define DOCTOR_REFS_H

#include "base/buf.h"
#include "base/oid.h"
#include "doctor/parts.h"

#define REFS_MAX   (64 << 20)
#define REFS_PINS  "refs/garth/"
#define REFS_HEADS "refs/heads/garth/"

/* What one look needs, read under the project's lock. */
struct refs_look {
	struct context *c;
	const struct survey_project *p;
	struct task_list tasks; /* removed ones too */
	struct buf heads, pins; /* "OID REF" lines */
	struct findings *out;
};

struct refs_line {
	char oid[OID_SIZE];
	char *ref;
};

/* The next line at *at; the caller frees line->ref. */
bool refs_next(const char **at, struct refs_line *ret);
bool refs_has(const struct buf *lines, const char *ref);
/* Opens what mending a project's refs needs; its tasks as they are now. */
int refs_open(struct context *c, int64_t project, struct repo *r, struct task_list *tasks, int *lock,
	struct err *e);

/* owed.c: what the tasks of the project lack. */
int owed_look(struct refs_look *k, struct err *e);

#endif
