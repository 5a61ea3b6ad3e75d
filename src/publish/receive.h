/* The first half of publishing: receives the new objects of a tip from the task's jail, as a pack, into the
 * verifier's quarantine. Blocks. */
#ifndef PUBLISH_RECEIVE_H
#define PUBLISH_RECEIVE_H

#include "base/err.h"
#include "base/strvec.h"
#include "publish/publisher.h"
#include "publish/oidset.h"
#include "publish/refusal.h"

/* `known` are commits that the shared repository has. The first is the task's base; the others are dropped if
 * the inside does not have them. Fills *fresh with the new objects. ERR_REFUSED with *no filled: the inside
 * sends nothing, or git refuses what it sends. */
int receive(struct publisher *pub, struct verifier *v, const char *tip, const struct strvec *known,
	struct oidset *fresh, struct refusal *no, struct err *e);
/* The same from a pack that came with the request, in a file. 1: the tip is not in it; the caller rejects
 * what it has unpacked. */
int receive_offer(struct publisher *pub, struct verifier *v, const char *tip, int pack, struct oidset *fresh,
	struct err *e);
/* Starts the packer for the next receive. */
void receive_prepare(struct publisher *pub);

#endif
