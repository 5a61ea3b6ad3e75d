/*
 * Whether a child waits for a FIFO to be opened at its other end. A file that a program is expected to read can have become one,
 * and then it would wait for ever.
 *
 * Linux tells what a process waits for (/proc/PID/wchan) if it is built that way, and if the process is this one's or the
 * caller is root. Otherwise the answer is no, and only a time limit helps.
 */
#ifndef SYS_FIFO_WAIT_H
#define SYS_FIFO_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* *path gets the name that it opens, as the process wrote it, if that can be read. */
bool fifo_wait_find(pid_t pid, struct buf *path);

#endif
