/* Files that no directory has any more, and that take room all the same, because somebody has them open. */
#ifndef SYS_GHOSTS_H
#define SYS_GHOSTS_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of those that the descendants of a process, but not its children, have open, each file once, or
 * mapped (as long as the mapping is). What is in memory only (memfd, tmpfs) is not counted, unless it is on
 * the device `home`. -1 where there is more than can be looked at in a moment, or somebody who cannot be
 * looked at. */
int ghosts_count(pid_t of, dev_t home, uint64_t *ret);

#endif
