/* The programs that seccomp-gen writes at build time: every jail's filter, and the additional filter of
 * Landlock-only jails, without and with the host's network, and that of jails with an overlay. */
#ifndef JAIL_SECCOMP_PROGRAM_H
#define JAIL_SECCOMP_PROGRAM_H

#include <linux/filter.h>

extern const struct sock_filter seccomp_program[];
extern const unsigned short seccomp_program_len;
extern const struct sock_filter seccomp_landlock_only[];
extern const unsigned short seccomp_landlock_only_len;
extern const struct sock_filter seccomp_landlock_only_net[];
extern const unsigned short seccomp_landlock_only_net_len;
extern const struct sock_filter seccomp_renames[];
extern const unsigned short seccomp_renames_len;

#endif
