/*
 * The process beside a keeper that notifies the user (task/notify.h): the keeper itself must never wait, and a
 * notification may outlive it. It exists only if notify.command is set.
 *
 * It is forked before the keeper and is nobody's child, so that the keeper, which waits for all its children
 * and ends them, has nothing to do with it. The keeper sends it messages. When the keeper's end of the socket is
 * closed, it ends; if the keeper has not said before how the run ended, the keeper was killed.
 */
#ifndef KEEPER_NOTIFIER_H
#define KEEPER_NOTIFIER_H

#include "task/notify.h"

/* Starts the process. Returns the keeper's end of the socket, or -1: then there are no notifications. */
int notifier_start(const struct notify_job *j);
/* Sends it an event. Does nothing if fd is -1. Never blocks. */
void notifier_tell(int fd, enum notify_event event, const char *why);

#endif
