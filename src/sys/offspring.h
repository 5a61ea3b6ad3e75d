/*
 * All processes that descend from this one, where it is a subreaper: whoever dies hands its children up, so
 * that nobody gets away. For jails that have no pid namespace to end them with.
 */
#ifndef SYS_OFFSPRING_H
#define SYS_OFFSPRING_H

#include <stddef.h>
#include <sys/types.h>

/* Ends and reaps them, but for those named and what descends from these. They are stopped first, until nobody
 * new is met, and killed then: a process that multiplies is against a limit (RLIMIT_NPROC) that stopped ones
 * still count for. */
void offspring_end(const pid_t *but, size_t n);
/* The pids of all that descend from a process, but for those named; on the heap. */
size_t offspring_list(pid_t of, const pid_t *but, size_t n, pid_t **ret);
/* The pids of all processes in sight but this one, those named and what descends from these; on the heap. */
size_t offspring_others(const pid_t *but, size_t n, pid_t **ret);
/* How many tasks (threads) the user of this process has, as RLIMIT_NPROC counts them. */
unsigned long offspring_count_user(void);

#endif
