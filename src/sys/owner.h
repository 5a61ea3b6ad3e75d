/*
 * The uid and gid of a jail's processes. For an ordinary user they are the user's own. For root they are
 * GARTH_UID, a number that no account has, so that nothing inside runs as root. Files that the jail may write
 * belong to the same ids.
 */
#ifndef SYS_OWNER_H
#define SYS_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#define GARTH_UID 1879050000u

struct owner {
	uid_t uid;
	gid_t gid;
};

/* The ids for jails that the calling process starts. */
struct owner owner_inside(void);
/* Whether files made for the inside need another owner: only if this process is root. */
bool owner_is_other(void);
/* Gives a file or directory to the inside's owner, by descriptor or by name beneath dir. Does nothing for
 * ordinary users. */
int owner_give(int dir, const char *name);

#endif
