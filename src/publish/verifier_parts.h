/*
 * What the parts of the verifier have in common: verifier.c (its life), verifier_rooms.c (its jail),
 * verifier_git.c (what git does in it), verifier_fast.c (what garth-fast-unpack does).
 */
#ifndef PUBLISH_VERIFIER_PARTS_H
#define PUBLISH_VERIFIER_PARTS_H

#include "publish/verifier.h"
#include "jail/jail.h"
#include "jail/order.h"

/* Names the places inside, and makes them where they are real directories. */
int verifier_set_places(struct verifier *v, const char *alone, struct err *e);
/* Its jail; the places are set. */
int verifier_describe(const struct verifier *v, struct jail *j, struct err *e);

/* A git command for the runner; the reader anew, which has the packs open that are no more. */
void verifier_command(const struct verifier *v, enum quarantine_room room, const struct strvec *args,
	struct order_cmd *ret);
int verifier_renew_reader(struct verifier *v, struct err *e);
/* verifier_fast.c: where *ret, the pack (a file of which nothing was read away) is in the room in memory.
 * After an error the verifier is spoiled. */
void verifier_start_fast(struct verifier *v);
int verifier_take_fast(struct verifier *v, int pack_fd, uint64_t max, bool *ret, struct err *e);

#endif
