/* Files that no directory has any more, and that take room all the same, because somebody has them open. */
#ifndef SYS_GHOSTS_H
#define SYS_GHOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of those that the descendants of a process have open, each file once, or mapped (as long as the
 * mapping is); not its children, nor, where these stand in for it (stood_in), the first child of each. What
 * is in memory only (memfd, tmpfs) is not counted, unless it is on the device `home`. -1 where there is more
 * than can be looked at in a moment, or somebody who cannot be looked at. Not seen: what is on its way
 * through a socket, and of a file that is mapped in part, and open nowhere, the rest. */
int ghosts_count(pid_t of, bool stood_in, dev_t home, uint64_t *ret);

#endif
