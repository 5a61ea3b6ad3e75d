/* Landlock: the allow-list once more, and the scopes. Tables and pure functions over the ABI's number. */
#ifndef JAIL_LANDLOCK_H
#define JAIL_LANDLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "jail/jail.h"

/* The kernel's ABI, 0 for none. */
int landlock_abi(void);
/* All file rights that an ABI handles: 0 for none; the newest known beyond the table. */
uint64_t landlock_fs_rights(int abi);
/* The scopes that an ABI knows. */
uint64_t landlock_scopes(int abi);
/* What a row gives: reading and executing, or everything. */
uint64_t landlock_row_rights(int abi, const struct jail_row *row);

/* Restricts the calling process for good. To be called inside, after the new root is in place. */
int landlock_enter(const struct jail *j, struct err *e);

#endif
