/*
 * Why a task's last commits were not published: a file in its directory, which is there while the gateway publishes
 * them. If it is there afterwards, they were refused, or the gateway died.
 */
#ifndef TASK_UNPUBLISHED_H
#define TASK_UNPUBLISHED_H

#include "base/err.h"

/* Its name; it is empty until unpublished_note. */
#define TASK_UNPUBLISHED "unpublished"

/* Codes of refusals that the user can lift with `garth allow`. */
#define REFUSAL_PROTECTED "protected_path"
#define REFUSAL_SCOPE     "outside_scope"

struct unpublished {
	char *code; /* of the refusal (publish/refusal.h); "" if it was none */
	char *path; /* the path in question; "" for none. The agent's bytes. */
};
void unpublished_release(struct unpublished *u);
#define auto_unpublished __attribute__((cleanup(unpublished_release))) struct unpublished

/* What cannot be written is not known later: no failure. */
void unpublished_note(int task_dir, const char *code, const char *path);
/* ERR_NOTFOUND if everything is published. */
int unpublished_load(int task_dir, struct unpublished *ret, struct err *e);

#endif
