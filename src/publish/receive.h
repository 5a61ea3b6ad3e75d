/* The first half of publishing: what is new at a tip comes out of the task's jail as a pack, and into the
 * verifier's quarantine. */
#ifndef PUBLISH_RECEIVE_H
#define PUBLISH_RECEIVE_H

#include "base/err.h"
#include "base/strvec.h"
#include "publish/publisher.h"
#include "publish/oidset.h"
#include "publish/refusal.h"

/* `known` are commits that the shared repository has: the first is the task's base, the others are left out
 * where the inside does not have them. *fresh is filled with what is new. ERR_REFUSED with *no filled where
 * the inside sends nothing, or git refuses what it sends. */
int receive(struct publisher *pub, struct verifier *v, const char *tip, const struct strvec *known,
	struct oidset *fresh, struct refusal *no, struct err *e);
/* The same from a pack that came with the request, in a file. 1 where it does not bring the tip: what it has
 * brought is removed. */
int receive_offer(struct publisher *pub, struct verifier *v, const char *tip, int pack, struct oidset *fresh,
	struct err *e);
/* Starts what the next one will need. */
void receive_prepare(struct publisher *pub);

#endif
