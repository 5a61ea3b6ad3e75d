/* What seccomp-gen writes at build time. */
#ifndef JAIL_SECCOMP_PROGRAM_H
#define JAIL_SECCOMP_PROGRAM_H

#include <linux/filter.h>

extern const struct sock_filter seccomp_program[];
extern const unsigned short seccomp_program_len;

#endif
