/* Internal: creates namespaces and maps uid and gid. enter_namespaces and the probe use these. */
#ifndef JAIL_USERNS_H
#define JAIL_USERNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jail/jail.h"

/* Whether user namespaces can be made and give capabilities. Tried once per process. */
bool userns_works(void);

/* The CLONE_NEW* flags for a jail. */
uint64_t userns_flags(const struct jail *j);
/* fork into new namespaces; -1 and errno. */
pid_t userns_fork(uint64_t flags);
/* From outside: writes the child's uid and gid maps. */
int userns_map(const struct jail *j, pid_t pid, struct err *e);

#endif
