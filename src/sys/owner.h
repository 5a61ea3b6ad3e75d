/*
 * Who a jail's processes are. An ordinary user's are the user's own uid and gid. Root's are never root: they
 * get GARTH_UID, a number that no account has, inside and outside alike, and what they may write belongs to
 * it.
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

/* For the calling process. */
struct owner owner_inside(void);
/* Whether files made for the inside have to be given away (root). */
bool owner_is_other(void);
/* Gives a file or directory, opened or by name beneath dir, to the inside; does nothing for ordinary users.
 */
int owner_give(int dir, const char *name);

#endif
