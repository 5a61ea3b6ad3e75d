/*
 * supervisor.c's parts: the caller as seen from outside, paths, connects. Not for others.
 *
 * Functions give 0 or a descriptor, or what the caller is to be told: an errno, negative. A function that
 * carries out a call first takes all that it needs from the caller (caller_*), then asks caller_waits whether
 * that was still the caller, and from then on uses what it has taken and nothing else.
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

/* The call is answered by a thread, later. */
#define SUPERVISOR_LATER 1

static inline uint64_t call_arg(const struct call *c, unsigned n)
{
	return c->req->data.args[n];
}

static inline int call_int(const struct call *c, unsigned n)
{
	return (int)c->req->data.args[n];
}

/* supervisor.c: tells the caller; who is gone needs no answer. */
void supervisor_answer(int listener, uint64_t id, int error);

/* supervisor_caller.c */
/* A copy of what lies in the caller's memory. */
int caller_read(const struct call *c, uint64_t from, void *to, size_t len);
/* A string with its end; ENAMETOOLONG where it has none within PATH_MAX. */
int caller_string(const struct call *c, uint64_t from, char to[PATH_MAX]);
/* The place that the caller's descriptor stands for (AT_FDCWD: where it is), as an O_PATH descriptor. */
int caller_place(const struct call *c, int fd);
/* The caller's descriptor itself. */
int caller_fd(const struct call *c, int fd);
/* 0 while the caller waits: what was read by its pid before was the caller's. */
int caller_waits(const struct call *c);

/* supervisor_path.c */
/* An O_PATH descriptor of what the path means for the caller. at and flags are as for fstatat: AT_FDCWD,
 * AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH. Asks caller_waits. */
int supervisor_pin(const struct call *c, int at, const char *path, int flags);
/* Where a descriptor lies: -1 where it has no name any more. */
int supervisor_where(int fd, char to[PATH_MAX]);
bool supervisor_writable(const struct supervisor *s, const char *path);
/* The text by which a descriptor of this process is named as a path. */
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
