/*
 * Shared by the verifier's files: verifier.c (start and end), verifier_jail.c (its jail), verifier_git.c (git
 * commands), verifier_fast.c (garth-fast-unpack).
 */
#ifndef PUBLISH_VERIFIER_PARTS_H
#define PUBLISH_VERIFIER_PARTS_H

#include "publish/verifier.h"
#include "jail/jail.h"
#include "jail/order.h"

/* Sets the paths inside; without namespaces, makes these directories. */
int verifier_set_places(struct verifier *v, const char *landlock_dir, struct err *e);
/* Describes its jail; call verifier_set_places before. */
int verifier_describe(const struct verifier *v, struct jail *j, struct err *e);

/* A git command for the runner. */
void verifier_command(const struct verifier *v, enum quarantine_area area, const struct strvec *args,
	struct order_cmd *ret);
int verifier_renew_reader(struct verifier *v, struct err *e);
/* verifier_fast.c: *ret: the pack was unpacked into the area in memory. Nothing may have been read from
 * pack_fd before. After an error the verifier is spoiled. */
void verifier_start_fast(struct verifier *v);
int verifier_take_fast(struct verifier *v, int pack_fd, uint64_t max, bool *ret, struct err *e);

#endif
