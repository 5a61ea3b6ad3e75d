/*
 * Limits by control groups, where the user may have one: version 2 beneath a group that is the user's own
 * (systemd's delegation) or root's, version 1 for root, each controller by itself.
 *
 *	cgroup_make(&places, "garth-12", &limits, &g, &held, e);   held: which limits it holds
 *	cgroup_enter(&g, pid);           before it starts anything
 *	cgroup_remove(&g);               when all in it have ended
 *
 * A group of that name that a crash left is used again.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* 0: no limit. */
struct cgroup_limits {
	uint64_t memory; /* bytes, of all together */
	uint64_t procs;
	uint64_t cpu; /* percent of one processor */
};

enum cgroup_held { CGROUP_MEMORY = 1, CGROUP_PROCS = 2, CGROUP_CPU = 4 };

/* Where the kernel shows its groups; tests have others. */
struct cgroup_places {
	const char *root; /* "/sys/fs/cgroup" */
	const char *self; /* "/proc/self/cgroup" */
};
extern const struct cgroup_places cgroup_kernel;

#define CGROUP_DIRS_MAX 4
struct cgroup {
	char *dirs[CGROUP_DIRS_MAX];
	size_t n;
};

/* The name of a task's group: those of several homes of a user's differ. */
char *cgroup_name(int home, int64_t task);
/* Groups of this home's that are there, wherever: paths. */
struct strvec;
void cgroup_find(const struct cgroup_places *p, int home, struct strvec *ret);
/* The task that a group's path names, as cgroup_name made it. */
int64_t cgroup_task(const char *dir);

/* What cannot be held is left out of the answer, which is a set of CGROUP_… */
unsigned cgroup_make(
	const struct cgroup_places *p, const char *name, const struct cgroup_limits *l, struct cgroup *ret);
/* Whether it is in all of them now. */
int cgroup_enter(const struct cgroup *g, pid_t pid);
/* How many processes the kernel has killed in it for want of memory. */
uint64_t cgroup_oom_kills(const struct cgroup *g);
/* A group of version 2 in which everything can be frozen: beneath the task's own, where that is of version 2,
 * else a new one of that name, which is added to g. NULL where there is none; on the heap. */
char *cgroup_freezer(const struct cgroup_places *p, const char *name, struct cgroup *g);
/* Freezes all that is in it and will be put into it, or lets it go on. A process that is frozen can be
 * killed, and wakes up for nothing else. */
int cgroup_freeze(const char *dir, bool frozen);
/* Puts those processes into it that are not there yet; how many those were, -1 where one cannot be. */
int cgroup_gather(const char *dir, const pid_t *pids, size_t n);
/* Removes one that a keeper left, by its path; none that is there is fine. */
int cgroup_drop(const char *dir);
/* Removes and forgets it. */
void cgroup_remove(struct cgroup *g);

#endif
