/*
 * File descriptors: closed by their scope, read and written completely, opened beneath a directory.
 *
 * If an agent can write to a directory, trusted code opens files in it only with open_beneath. The kernel
 * then refuses to leave the directory through "..", absolute links or /proc links, even if the agent swaps
 * them in at that moment.
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
 * Returns -1 and sets errno. The path "" or "." means the directory itself. */
int open_beneath(int dir, const char *path, int flags, mode_t mode);
/* Opens a regular file for reading. Never blocks on a FIFO or a device. -1 and errno (EINVAL: not a regular
 * file). */
int open_regular_beneath(int dir, const char *path);
/* lstat beneath a directory; -1 and errno. */
int lstat_beneath(int dir, const char *path, struct stat *st);
/* Creates the directories of the path that are missing, with this mode and owner (owner.h), and opens the
 * last one. */
int mkdirs_beneath(int dir, const char *path, mode_t mode, uid_t uid, gid_t gid);

/* Writes all bytes, continues after EINTR; -1 and errno. */
int write_full(int fd, const void *data, size_t len);
/* Reads until len bytes or the end of the file; returns the number of bytes or -1. */
ssize_t read_full(int fd, void *data, size_t len);
/* Reads the rest of a file. ERR_FAILED beyond the buffer's limit. `what` is for the message. */
int read_rest(int fd, struct buf *out, const char *what, struct err *e);
/* Reads a whole file by path; dir may be AT_FDCWD. ERR_NOTFOUND if it does not exist. ERR_REFUSED for a FIFO or
 * another thing that is no regular file, which could make us wait. */
int read_file(int dir, const char *path, struct buf *out, struct err *e);
/* Writes a temporary file and renames it to `path`: others see the old file or the new one, never a part. */
int write_file(int dir, const char *path, const void *data, size_t len, mode_t mode, struct err *e);
/* Copies one regular file into another, inside the kernel if it can (reflink, copy_file_range). Holes stay
 * holes. */
int copy_fd(int from, int to, struct err *e);

/* Copies the first len bytes of a file, in the same way; -1 and errno. */
int copy_part(int from, int to, uint64_t len);

int fd_nonblock(int fd);
/* A memfd with these bytes, positioned at its start. */
int fd_of_bytes(const char *name, const void *data, size_t len);

/* Raises this process's limit on open descriptors, to more than it opens itself: descriptors that a task's
 * processes have sent and nobody has received count against it too. */
void fd_make_room(void);

#endif
