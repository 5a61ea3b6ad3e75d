/*
 * What a running task has added on disk, measured now and then (J8): over its limit it stands still, named,
 * with everything there, until the user has raised the limit or made room.
 */
#ifndef GATEWAY_MEASURE_H
#define GATEWAY_MEASURE_H

#include "base/err.h"
#include "gateway/gate.h"

int gate_measure(struct gate *g, struct err *e);

#endif
