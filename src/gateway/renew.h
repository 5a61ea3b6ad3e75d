/* Refs that moved outside show their new values inside (G12): the shared repository pins them, and git inside
 * writes them. Objects come along where the task does not borrow them. */
#ifndef GATEWAY_RENEW_H
#define GATEWAY_RENEW_H

#include "base/err.h"
#include "gateway/gate.h"

int gate_renew(struct gate *g, struct err *e);

#endif
