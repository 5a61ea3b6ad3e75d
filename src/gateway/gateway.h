/* The state that the gateway's process keeps for all of its requests. */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "base/oid.h"
#include "inside/inside.h"
#include "publish/publisher.h"

struct gateway {
	struct inside in;
	struct publisher pub;
	char pushed[OID_SIZE]; /* the tip that was last pushed for the agent: a second push is skipped */
};

#endif
