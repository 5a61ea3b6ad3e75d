/*
 * The system-call filter of every jail. seccomp-gen compiles it at build time with libseccomp, so it is
 * read-only data here, and loading it is one system call.
 */
#ifndef JAIL_SECCOMP_H
#define JAIL_SECCOMP_H

#include "base/err.h"

/* Filters the calling process permanently. no_new_privs must be set. */
int seccomp_enter(struct err *e);

#endif
