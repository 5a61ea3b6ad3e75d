/*
 * Lists what git has to check in an overlay workspace, so that `git status` need not check the rest. The
 * answer is computed from the files each time; no state is kept.
 *
 *	report_index	entries of git's index that the base's index does not have, or has differently: no lower
 *			layer has such a file, so its removal leaves no trace in the upper directory
 *	report_upper	what is in the overlay's upper directory: changed, new and deleted files, and every
 *			directory in which a name may have appeared or disappeared
 *
 * Call them in this order, because the first finds out what the second may skip. Both append NUL-terminated
 * paths, relative to the workspace's root; a slash at the end means everything beneath. After an error the
 * output is useless, and the answer must be "check everything".
 */
#ifndef FSMONITOR_REPORT_H
#define FSMONITOR_REPORT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "fsmonitor/known.h"

/* Reported in every directory of the upper, so that git lists that directory again. */
#define REPORT_DUMMY ".garth-fsmonitor"
/* If the upper has more names than this, the answer is "check everything", which is faster then. */
#define REPORT_MAX_NAMES 40000
#define REPORT_MAX_DEPTH 200

struct bytes {
	const void *data;
	size_t len;
};

/* Tries both hash lengths. */
int report_index(struct bytes base, struct bytes own, struct buf *out, struct known *ret, struct err *e);
/* dir is the upper's root, an open directory; the caller closes it. */
int report_upper(int dir, const struct known *known, struct buf *out, struct err *e);

#endif
