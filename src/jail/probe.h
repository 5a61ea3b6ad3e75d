/*
 * Finds out what this kernel offers, by trying it in a temporary child process, and what to do if something
 * is missing. `garth doctor` prints it. A run calls it only after entering has failed, because it takes
 * longer than a run does.
 */
#ifndef JAIL_PROBE_H
#define JAIL_PROBE_H

#include <stdbool.h>

#include "base/err.h"

struct probe_row {
	const char *name;    /* "user namespaces" */
	const char *purpose; /* "everything" / "overlay workspaces" */
	bool ok, required;
	char found[160];  /* "ABI 7", or why not */
	char enable[256]; /* the command that enables it, or "" */
};

#define PROBE_MAX 16

struct probe {
	struct probe_row rows[PROBE_MAX];
	int n;
};

/* Fills the rows: user namespaces, mount API, openat2, overlay, own /proc, network namespaces, landlock,
 * landlock scopes, seccomp. */
void probe_kernel(struct probe *p);
/* Whether the row with this name is ok; false if there is no such row. */
bool probe_has(const struct probe *p, const char *name);

/* Facts about the system that decide the advice. They are separate so that the advice can be tested anywhere.
 * */
struct probe_facts {
	int userns_errno;              /* from making one and using a capability in it; 0 if it works */
	long max_user_namespaces;      /* /proc/sys/user/max_user_namespaces, -1 unknown */
	int unprivileged_userns_clone; /* Debian's sysctl, -1 if there is none */
	int apparmor_restrict;         /* Ubuntu's kernel.apparmor_restrict_unprivileged_userns, -1 none */
	bool seccomp_blocked;          /* EPERM without any sysctl that explains it: a container's filter */
};
/* Fills ok, found and enable of the row for user namespaces, from the facts alone. */
void probe_userns_advice(const struct probe_facts *f, struct probe_row *row);
/* The same for the row of /proc, from the errno of mounting a new one. */
void probe_proc_advice(int error, struct probe_row *row);

#endif
