/* Namespaces and the map of the identity. Internal: enter_namespaces and the probe are made of these. */
#ifndef JAIL_USERNS_H
#define JAIL_USERNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jail/jail.h"

/* Whether namespaces can be made and give rights; tried once in a process. */
bool userns_works(void);

/* CLONE_NEW* for a jail. */
uint64_t userns_flags(const struct jail *j);
/* fork into new namespaces; -1 and errno. */
pid_t userns_fork(uint64_t flags);
/* From outside: gives the child its identity. */
int userns_map(const struct jail *j, pid_t pid, struct err *e);

#endif
