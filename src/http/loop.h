/*
 * The loop of a process that must go on whatever a task does. libevent's usual method is epoll. The kernel counts watches of
 * epoll for each user, without a limit for each process, so a task can take them all; then a keeper with epoll could not
 * even be asked to cancel that task. These processes have few descriptors, for which poll is as fast.
 */
#ifndef HTTP_LOOP_H
#define HTTP_LOOP_H

#include <event2/event.h>

/* `how` may be NULL; it is freed. NULL if there is no memory. The caller frees the loop. */
struct event_base *loop_new(struct event_config *how);

#endif
