/*
 * Internal to the supervisor_*.c files: reading the caller, resolving paths, carrying out calls.
 *
 * Functions return 0 or a descriptor, or the negative errno for the caller. A function that carries out a
 * call first reads everything it needs from the caller (caller_*), then calls caller_waits to make sure that
 * this was still the caller, and from then on uses only what it has read.
 */
#ifndef JAIL_SUPERVISOR_PARTS_H
#define JAIL_SUPERVISOR_PARTS_H

#include <limits.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "jail/supervisor.h"

struct call {
	int listener;
	const struct seccomp_notif *req;
	const struct supervisor *s;
};

/* A thread will answer the call later. */
#define SUPERVISOR_LATER 1

static inline uint64_t call_arg(const struct call *c, unsigned n)
{
	return c->req->data.args[n];
}

static inline int call_int(const struct call *c, unsigned n)
{
	return (int)c->req->data.args[n];
}

/* supervisor.c: sends the result to the caller, if it still exists. */
void supervisor_answer(int listener, uint64_t id, int error);

/* supervisor_caller.c */
/* Copies from the caller's memory. */
int caller_read(const struct call *c, uint64_t from, void *to, size_t len);
/* A string with its NUL; ENAMETOOLONG if there is none within PATH_MAX. */
int caller_string(const struct call *c, uint64_t from, char to[PATH_MAX]);
/* An O_PATH descriptor of the file behind the caller's descriptor (AT_FDCWD: the current directory). */
int caller_place(const struct call *c, int fd);
/* A copy of the caller's descriptor. */
int caller_fd(const struct call *c, int fd);
/* 0 while the caller is still blocked in the call: then what was read by its pid before was the caller's. */
int caller_waits(const struct call *c);

/* supervisor_path.c */
/* An O_PATH descriptor of what the path means for the caller. at and flags are as for fstatat: AT_FDCWD,
 * AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH. Calls caller_waits. */
int supervisor_pin(const struct call *c, int at, const char *path, int flags);
/* The path of a descriptor; -1 if it has no name any more. */
int supervisor_where(int fd, char to[PATH_MAX]);
bool supervisor_writable(const struct supervisor *s, const char *path);
/* /proc/self/fd/N: a path for one of this process's descriptors. */
#define OWN_FD_MAX 32
void supervisor_own_fd(int fd, char to[OWN_FD_MAX]);

/* supervisor_change.c, supervisor_bind.c, supervisor_connect.c: the calls */
int supervisor_chmod(const struct call *c);
int supervisor_fchmod(const struct call *c);
int supervisor_fchmodat(const struct call *c);
int supervisor_fchmodat2(const struct call *c);
int supervisor_fchown(const struct call *c);
int supervisor_utime(const struct call *c);
int supervisor_utimes(const struct call *c);
int supervisor_futimesat(const struct call *c);
int supervisor_utimensat(const struct call *c);
int supervisor_bind(const struct call *c);
int supervisor_connect(const struct call *c);

#endif
