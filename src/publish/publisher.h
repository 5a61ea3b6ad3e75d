/*
 * What publishing keeps between two requests: the verifier, a running update-ref, and the last fork.
 *
 *	struct publisher pub = PUBLISHER_INIT(&in);
 *	publish(&pub, …);                        publish.h
 *	publisher_close(&pub);
 */
#ifndef PUBLISH_PUBLISHER_H
#define PUBLISH_PUBLISHER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/oid.h"
#include "git/ref.h"
#include "inside/inside.h"
#include "publish/verifier.h"

struct publisher {
	struct inside *in;
	struct verifier verifier;
	bool has_verifier;
	bool offered;             /* the last publish came with its own pack */
	bool untidy;              /* publish_tidy has something to do */
	struct ref_session *refs; /* a running update-ref */
	/* The newest commit that fork_tip and the target have in common. */
	char fork_tip[OID_SIZE], fork[OID_SIZE];
};

#define PUBLISHER_INIT(inside)                                                                               \
	{                                                                                                    \
		.in = (inside)                                                                               \
	}

void publisher_close(struct publisher *pub);
/* The verifier, started if necessary. */
int publisher_verifier(struct publisher *pub, struct verifier **ret, struct err *e);
/* Ends the verifier after a failure. The next publisher_verifier starts another. */
void publisher_drop_verifier(struct publisher *pub);
/* The connection that is being answered, -1 for none: if the client closes it, commands are no longer waited
 * for. */
void publisher_set_caller(struct publisher *pub, int fd);

#endif
