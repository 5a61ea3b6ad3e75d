/* The form of the filters' rows, which seccomp-gen compiles. */
#ifndef JAIL_SECCOMP_GEN_H
#define JAIL_SECCOMP_GEN_H

#include <errno.h>
#include <seccomp.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct rule {
	const char *name;
	int number; /* if libseccomp may be too old for the name; the same on all architectures */
	int error;  /* what the caller gets, or HAND_OVER: the process with the listener decides */
	unsigned nargs;
	struct scmp_arg_cmp args[2];
};

#define HAND_OVER (-1)
#define LOW32     0xffffffffu
#define NO(n)                                                                                                \
	{                                                                                                    \
		n, -1, EPERM, 0,                                                                             \
		{                                                                                            \
			{                                                                                    \
				0                                                                            \
			}                                                                                    \
		}                                                                                            \
	}
#define NO_NEW(n, nr)                                                                                        \
	{                                                                                                    \
		n, nr, EPERM, 0,                                                                             \
		{                                                                                            \
			{                                                                                    \
				0                                                                            \
			}                                                                                    \
		}                                                                                            \
	}
#define BITS(arg, bits)                                                                                      \
	{                                                                                                    \
		arg, SCMP_CMP_MASKED_EQ, bits, bits                                                          \
	}
/* The kernel reads an int and ignores the upper 32 bits. */
#define IS(arg, value)                                                                                       \
	{                                                                                                    \
		arg, SCMP_CMP_MASKED_EQ, LOW32, value                                                        \
	}

/* seccomp-landlock-only.c: the rules with the host's network, and those to add without it. */
extern const struct rule landlock_only_rules[], landlock_only_offline_rules[];
extern const size_t landlock_only_nrules, landlock_only_offline_nrules;

#endif
