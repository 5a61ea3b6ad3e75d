/* Landlock rules for a jail: the allow-list of files a second time, and the scopes. Rights are tables over
 * the kernel's ABI number. */
#ifndef JAIL_LANDLOCK_H
#define JAIL_LANDLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "jail/jail.h"

/* The kernel's Landlock ABI, 0 for none. */
int landlock_abi(void);
/* All file rights that an ABI knows: 0 for none. An ABI newer than the table has the rights of the last row.
 * */
uint64_t landlock_fs_rights(int abi);
/* The scopes that an ABI knows. */
uint64_t landlock_scopes(int abi);
/* The rights that a row gives: to read and execute, or all. */
uint64_t landlock_row_rights(int abi, const struct jail_row *row);

/* Restricts the calling process permanently. To be called inside, after the new root is in place. */
int landlock_enter(const struct jail *j, struct err *e);

#endif
