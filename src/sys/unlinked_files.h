/* Measures files that have no name any more but still take disk space, because a process has them open. */
#ifndef SYS_UNLINKED_FILES_H
#define SYS_UNLINKED_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct unlinked_files {
	uint64_t bytes, inodes;
	/* There may be more: descriptors in flight in a socket, files that are mapped but not open (they
	 * count with the size of the mapping), too many sockets to check, processes that ended during each
	 * attempt. */
	bool unsure;
};

struct unlinked_search {
	pid_t of;
	bool has_supervisor;
	dev_t home;
	const pid_t *receivers; /* 0: none */
	size_t nreceivers;
};

/* Counts the unlinked files that the descendants of the process `of` have open, mapped, as their current directory, or as
 * the program that they run, each file once. The process itself is left out, and with has_supervisor also its first child.
 * Files in memory only (memfd, tmpfs) are not counted, unless they are on the device `home`. Of the receivers, processes
 * outside to which they can connect, only the sockets are looked at: what was sent there and not received is in flight.
 * Returns -1 if there is too much to check in a moment, or a process that cannot be inspected. */
int unlinked_files_count(const struct unlinked_search *of, struct unlinked_files *ret);

#endif
