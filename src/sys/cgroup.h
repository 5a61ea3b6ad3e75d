/*
 * Resource limits by control groups, if the user may create one. Version 2 works beneath a group that belongs
 * to the user (systemd's delegation) or for root; version 1 works for root, with one group per controller.
 *
 *	held = cgroup_make(&cgroup_kernel, name, &limits, &g);   which limits are in force
 *	cgroup_enter(&g, pid);     before the process starts others
 *	cgroup_remove(&g);         after all its processes have ended
 *
 * If a crash left a group of that name, it is used again.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* 0: no limit. */
struct cgroup_limits {
	uint64_t memory; /* bytes, for all processes together */
	uint64_t procs;
	uint64_t cpu; /* percent of one processor */
};

enum cgroup_held { CGROUP_MEMORY = 1, CGROUP_PROCS = 2, CGROUP_CPU = 4 };

/* Where the kernel shows control groups; tests use other paths. */
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

/* The name of a task's group. It is different for each Garth home. The caller frees it. */
char *cgroup_name(int home, int64_t task);
/* Appends the paths of all existing groups of this Garth home. */
struct strvec;
void cgroup_find(const struct cgroup_places *p, int home, struct strvec *ret);
/* The task's number in a group's path, as cgroup_name wrote it. */
int64_t cgroup_task(const char *dir);

/* Creates the group and sets the limits. Returns those that are in force, as a set of CGROUP_… */
unsigned cgroup_make(
	const struct cgroup_places *p, const char *name, const struct cgroup_limits *l, struct cgroup *ret);
/* Moves the process into all of the group's directories; -1 if one refuses. */
int cgroup_enter(const struct cgroup *g, pid_t pid);
/* How many processes the kernel has killed in it because memory ran out. */
uint64_t cgroup_oom_kills(const struct cgroup *g);
/* A version 2 group that can be frozen: beneath the task's group if that is version 2, else a new group
 * called `name`, which is added to g. NULL if there is none. The caller frees it. */
char *cgroup_freezer(const struct cgroup_places *p, const char *name, struct cgroup *g);
/* Freezes everything that is in the group or will be moved into it, or thaws it. A frozen process can be
 * killed; no other signal wakes it. */
int cgroup_freeze(const char *dir, bool frozen);
/* Moves those processes into the group that are not in it yet. Returns how many those were, -1 if one cannot
 * be moved. */
int cgroup_gather(const char *dir, const pid_t *pids, size_t n);
/* Removes a group that a keeper left behind, by its path. It is no error if it does not exist. */
int cgroup_drop(const char *dir);
/* Removes the group, after all its processes have ended, and frees g. */
void cgroup_remove(struct cgroup *g);

#endif
