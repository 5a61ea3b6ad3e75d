/*
 * File descriptors: owned by a scope, read and written whole, opened beneath a directory.
 *
 * Whatever trusted code opens under a directory that an agent can write, it opens with open_beneath: the
 * kernel then refuses to leave the directory by "..", absolute links or /proc links, at whatever moment the
 * agent swaps them in.
 */
#ifndef SYS_FD_H
#define SYS_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

void fd_closep(int *fd);
#define auto_fd __attribute__((cleanup(fd_closep))) int
int fd_steal(int *fd);

/* openat2 with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS, and O_CLOEXEC | O_NOFOLLOW.
 * -1 and errno. path "" or "." is the directory itself. */
int open_beneath(int dir, const char *path, int flags, mode_t mode);
/* A regular file for reading: never blocks on a FIFO or a device; -1 and errno (EINVAL: not a regular file).
 */
int open_regular_beneath(int dir, const char *path);
/* lstat beneath a directory; -1 and errno. */
int lstat_beneath(int dir, const char *path, struct stat *st);
/* Makes the directories on the way and opens the last one. Owner is what the new ones get; see owner.h. */
int mkdirs_beneath(int dir, const char *path, mode_t mode, uid_t uid, gid_t gid);

/* All bytes, through EINTR; -1 and errno. */
int write_full(int fd, const void *data, size_t len);
/* Up to len bytes until end of file; the number read or -1. */
ssize_t read_full(int fd, void *data, size_t len);
/* The rest of a file; ERR_FAILED beyond the buffer's limit. `what` is for the message. */
int read_rest(int fd, struct buf *out, const char *what, struct err *e);
/* A whole file by path, dir may be AT_FDCWD. ERR_NOTFOUND where it is not there. */
int read_file(int dir, const char *path, struct buf *out, struct err *e);
/* Writes a new file beside and renames it over: the file is the old one or the new one. */
int write_file(int dir, const char *path, const void *data, size_t len, mode_t mode, struct err *e);
/* The bytes of one regular file into another, in the kernel where it can (reflink, copy_file_range); holes
 * stay holes. */
int copy_fd(int from, int to, struct err *e);

/* The first len bytes of a file into another, the same way; -1 and errno. */
int copy_part(int from, int to, uint64_t len);

int fd_nonblock(int fd);
/* A memfd with the bytes in it, read from its start. */
int fd_of_bytes(const char *name, const void *data, size_t len);

/* Raises the number of descriptors that this process may have, as far as is of use. More than it needs: what
 * a task's processes have sent and nobody took counts against it. */
void fd_make_room(void);

#endif
