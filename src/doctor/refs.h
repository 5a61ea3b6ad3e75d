/* Checks Garth's refs in a project's repository; for refs.c and owed.c only. */
#ifndef DOCTOR_REFS_H
#define DOCTOR_REFS_H

#include "base/buf.h"
#include "base/oid.h"
#include "doctor/parts.h"

#define REFS_MAX   (64 << 20)
#define REFS_PINS  "refs/garth/"
#define REFS_HEADS "refs/heads/garth/"

/* The data of one check, read under the project's lock. */
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

/* refs_next reads the next line at *at; the caller frees line->ref. */
bool refs_next(const char **at, struct refs_line *ret);
bool refs_has(const struct buf *lines, const char *ref);
/* Opens what the repair of a project's refs needs, with its tasks as they are now. */
int refs_open(struct context *c, int64_t project, struct repo *r, struct task_list *tasks, int *lock,
	struct err *e);

/* Checks which refs the project's tasks lack (owed.c). */
int owed_look(struct refs_look *k, struct err *e);

#endif
