/* Internal to overlay_rename*.c. */
#ifndef JAIL_OVERLAY_RENAME_PARTS_H
#define JAIL_OVERLAY_RENAME_PARTS_H

#include "jail/supervisor_parts.h"

/* One side of a rename. */
struct rename_side {
	char text[PATH_MAX + 64];
	char *path; /* in text: absolute, as this process sees it */
	bool is_dir;
};

struct rename_call {
	const struct call *call;
	unsigned flags;
	struct rename_side from, to;
};

/* Whether the kernel may refuse the call because of a directory in a lower layer. Fast: most calls rename
 * files. */
bool rename_looks_hard(const struct call *c, struct rename_call *ret);
/* Makes the directory movable, or both directories of an exchange. Returns the negative errno for the caller, or 0: the
 * call shall continue. goes_on is as for copy_up_dir. */
int rename_prepare(struct rename_call *r, bool (*goes_on)(void *arg), void *arg);

#endif
