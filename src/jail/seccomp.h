/*
 * The system-call filter. Its program is compiled at build time by seccomp-gen (which links libseccomp) and
 * lies in the read-only data of whoever links this; loading it is one system call.
 */
#ifndef JAIL_SECCOMP_H
#define JAIL_SECCOMP_H

#include "base/err.h"

/* Filters the calling process for good. no_new_privs must be set. */
int seccomp_enter(struct err *e);

#endif
