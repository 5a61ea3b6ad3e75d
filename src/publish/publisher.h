/*
 * What publishing keeps between two requests: the verifier's jail, and what was found out about the branch.
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
	bool offered;             /* the last publish came with its pack */
	bool untidy;              /* what the last publish needed is still there: publish_tidy */
	struct ref_session *refs; /* a running update-ref */
	/* Where the branch at fork_tip left its target: the newest commit that both have. */
	char fork_tip[OID_SIZE], fork[OID_SIZE];
};

#define PUBLISHER_INIT(inside)                                                                               \
	{                                                                                                    \
		.in = (inside)                                                                               \
	}

void publisher_close(struct publisher *pub);
/* The verifier, started if it is not there. */
int publisher_verifier(struct publisher *pub, struct verifier **ret, struct err *e);
/* Ends it: it failed, or something in it did. The next publisher_verifier starts another. */
void publisher_drop_verifier(struct publisher *pub);
/* Who is being answered, -1 for nobody: if that connection is closed, no command is waited for any more. */
void publisher_set_caller(struct publisher *pub, int fd);

#endif
