/* Checks Garth's refs in a project's repository; for refs.c, missing_refs.c and submodules.c only. */
#ifndef DOCTOR_REFS_H
#define DOCTOR_REFS_H

#include "base/buf.h"
#include "base/oid.h"
#include "doctor/parts.h"
#include "git/ref.h"

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

/* Whether the task is in the trash or archived. */
bool refs_can_be_restored(const struct context *c, const struct task *t);
/* The part of a pin's name that identifies its owner: "trash/12", "snapshots/12", "shown/SET"; on the heap. */
char *refs_group_of(const char *ref);
enum refs_owner { OWNER_TASK, OWNER_REMOVED, OWNER_UNKNOWN };
enum refs_owner refs_owner_of(
	struct context *c, const struct task_list *tasks, int64_t project, const char *group);
/* The number of pins in a group, and how many keep something that no other ref reaches. `drop` gets the others to
 * remove; it may be NULL. */
int refs_count_group(const struct repo *r, const char *group, struct ref_txn *drop, size_t *n, size_t *only,
	struct err *e);
/* A branch with a checkout is in use. If that cannot be found out, assume so. */
bool refs_is_checked_out(const struct repo *r, const char *ref);

/* Checks which refs the project's tasks lack (missing_refs.c). */
int missing_refs_look(struct refs_look *k, struct err *e);

#endif
