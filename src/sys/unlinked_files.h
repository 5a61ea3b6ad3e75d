/* Files that no directory has any more, and that take room all the same, because somebody has them open. */
#ifndef SYS_UNLINKED_FILES_H
#define SYS_UNLINKED_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct unlinked_files {
	uint64_t bytes, inodes;
	/* There may be more: descriptors on their way through a socket, files that are mapped and open
	 * nowhere (they count as long as the mapping is), a great many sockets, whose names may be removed,
	 * processes that end while they are looked at, however often that is.
	 */
	bool unsure;
};

/* Those that the descendants of a process have open, mapped, or stand in, each once; not its children, nor,
 * where these stand in for it (stood_in), the first child of each. What is in memory only (memfd, tmpfs) is
 * not counted, unless it is on the device `home`. -1 where there is more than can be looked at in a moment,
 * or somebody who cannot be looked at. */
int unlinked_files_count(pid_t of, bool stood_in, dev_t home, struct unlinked_files *ret);

#endif
