/*
 * Finds and ends all processes that descend from this one. This process must be a subreaper, so that orphans
 * become its children and none escapes. For jails without a pid namespace.
 */
#ifndef SYS_DESCENDANTS_H
#define SYS_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* Kills and reaps all descendants, except those in `but` and their descendants. It stops them all first,
 * until no new one appears, and kills them then: stopped processes still count against RLIMIT_NPROC, so a
 * process that keeps forking reaches that limit. */
void descendants_end(const pid_t *but, size_t n);
/* The pids of all descendants of a process, except those in `but`. The caller frees *ret. */
size_t descendants_list(pid_t of, const pid_t *but, size_t n, pid_t **ret);
/* The pids of all visible processes, except this one, those in `but` and their descendants. The caller frees
 * *ret. */
size_t descendants_others(const pid_t *but, size_t n, pid_t **ret);
/* How many tasks (threads) this process's user has, as RLIMIT_NPROC counts them. */
unsigned long descendants_count_user(void);

#endif
